"""The equation linearised at states of spheres: by azimuthal sectors about an axis, or by harmonics on S^2."""
