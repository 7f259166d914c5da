"""Extended systems: those of every type of curve, their first points, and the rows of records made from them."""
