r"""Distances between probability measures on the circle of length :math:`2\pi`, exact up to rounding.

Measures are samples of equal weights (:class:`Sample`) or densities given by their moments
(:class:`Density`). The Wasserstein distances are those of the geodesic distance
:math:`|x-y|_{\mathbb T} = \min_n |x - y + 2\pi n|`. With the distribution functions F, G and the quantile
functions :math:`F^{-1}(u+1) = F^{-1}(u) + 2\pi`,

.. math::

    W_1 = \min_a \int_0^{2\pi} |F - G - a|\,dx, \qquad
    W_2^2 = \min_a \int_0^1 |F^{-1}(u) - G^{-1}(u - a)|^2\,du ,

both minima of convex functions of one number [1]_, [2]_. An empirical measure of N points of a density is at a
distance of order :math:`N^{-1/2}` from that density, in :math:`W_1` and, where the density is bounded
below, in :math:`W_2` [3]_: no comparison of N particles with their mean-field limit gets below it.

On spheres the laws of the angle from an axis are compared (:mod:`.polar`).

References
----------
.. [1] J. Rabin, J. Delon, Y. Gousseau, Transportation distances on the circle, J. Math. Imaging Vis. 41 (2011).
.. [2] J. Delon, J. Salomon, A. Sobolevskii, Fast transport optimization for Monge costs on the circle,
       SIAM J. Appl. Math. 70 (2010).
.. [3] S. Bobkov, M. Ledoux, One-dimensional empirical measures, order statistics, and Kantorovich transport
       distances, Mem. AMS 261 (2019).
"""

from .distances import wasserstein1, wasserstein2
from .divergences import l2_distance, relative_entropy
from .measures import Density, Sample
from .polar import NEGATIVE_ROUNDING as NEGATIVE_ROUNDING
from .polar import PolarLaw, polar_distances, zonal_law
from .polar import polar_law as polar_law

__all__ = [
    "Density",
    "PolarLaw",
    "Sample",
    "l2_distance",
    "polar_distances",
    "relative_entropy",
    "wasserstein1",
    "wasserstein2",
    "zonal_law",
]
