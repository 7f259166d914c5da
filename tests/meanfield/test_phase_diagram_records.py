"""Phase diagrams and curves as records, files and figures."""

import csv
import dataclasses
import json

import numpy as np
import pytest

from meanfield import InvalidInput, open_curve, open_phase_diagram
from meanfield.export.opening import open_record
from tests.meanfield.sample import line_of_transitions, made_up_phase_diagram

LINE, DIAGRAM = line_of_transitions(), made_up_phase_diagram()


def _table(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.parametrize("suffix", [".nc", ".json"])
@pytest.mark.parametrize(("record", "opened"), [(LINE, open_curve), (DIAGRAM, open_phase_diagram)])
def test_files_hold_the_records_to_the_bit(tmp_path, record, opened, suffix):
    path = tmp_path / f"record{suffix}"
    record.save(path)
    again = opened(path)
    assert again == record
    assert again.special_points[0].problem == record.special_points[0].problem
    assert open_record(path) == record
    record.save(tmp_path / f"again{suffix}")
    assert opened(tmp_path / f"again{suffix}") == again


def test_a_changed_file_is_refused_and_an_impossible_one_without_its_digest(tmp_path):
    path = tmp_path / "record.json"
    DIAGRAM.save(path)
    text = path.read_text()
    path.write_text(text.replace('"stable": 2', '"stable": 3').replace('"stable":2', '"stable":3'))
    assert path.read_text() != text
    with pytest.raises(InvalidInput, match="changed"):
        open_phase_diagram(path)
    values = json.loads(text)
    values.pop("digest")
    values["arrays"]["region_000_lower"][0] = 9.0
    path.write_text(json.dumps(values))
    with pytest.raises(InvalidInput, match="ends below where it begins"):
        open_phase_diagram(path)
    with pytest.raises(InvalidInput, match="phase diagram"):
        open_curve(path)


def test_tables_have_the_columns_of_the_parameter(tmp_path):
    DIAGRAM.save(tmp_path / "phase.csv")
    rows = _table(tmp_path / "phase.csv")
    assert list(rows[0])[:6] == ["curve", "type", "point", "beta", "coupling", "relative_coupling"]
    assert [float(row["beta"]) for row in rows[:5]] == LINE.first.tolist()
    assert {row["type"] for row in rows} == {"transition", "fold"}
    points = _table(tmp_path / "phase.special.csv")
    assert list(points[0]) == ["type", "beta", "coupling", "relative_coupling", "lower", "upper", "status"]
    assert (points[0]["type"], float(points[0]["beta"])) == ("tricritical", 2.5)
    LINE.save(tmp_path / "line.csv")
    assert _table(tmp_path / "line.special.csv") == points


def test_regions_know_what_is_inside():
    assert DIAGRAM.region_at(3.0, 0.7).minimiser == "uniform"
    assert DIAGRAM.region_at(3.0, 1.2).stable == 2
    assert DIAGRAM.region_at(3.0, 1.7) is None
    assert DIAGRAM.region_at(4.5, 0.7) is None
    assert "NOT CONFIRMED at (3, 1.2)" in DIAGRAM.summary()
    assert "\nwarnings\n  - made up" in DIAGRAM.summary()


def test_a_region_that_is_not_confirmed_says_what_disagrees():
    region = next(each for each in DIAGRAM.regions if each.agrees is False)
    as_found = {"found_minimiser": region.minimiser, "found_stable": region.stable}
    unknown = {"found_minimiser": "", "found_stable": None}
    for fields, words in (
        (as_found, "NOT CONFIRMED: diagrams inside it differ, although a search agrees at (3, 1.2)"),
        (unknown, "NOT CONFIRMED: diagrams inside it differ, and no search examined it"),
    ):
        changed = dataclasses.replace(DIAGRAM, regions=(dataclasses.replace(region, **fields),))
        assert words in changed.summary()


def test_unknown_names_are_refused():
    with pytest.raises(InvalidInput, match="did you mean fold of the 1-cluster"):
        DIAGRAM.curve("fold of the 2-cluster")
    with pytest.raises(InvalidInput, match="tricritical"):
        DIAGRAM.events("tricitical")
    assert DIAGRAM.curve(0) == LINE
    assert DIAGRAM.events("tricritical") == list(DIAGRAM.special_points)


def test_the_picture_has_every_curve_and_names_its_points():
    ax = DIAGRAM.plot()
    ax.figure.draw_without_rendering()
    # Every corner of every strip is inside the patch of its region, moved inwards a little.
    for region in DIAGRAM.regions:
        middle = np.array([region.first.mean(), 0.5 * (region.lower + region.upper).mean()])
        corners = np.array(
            [
                [x, y]
                for x, low, high in zip(region.first, region.lower, region.upper, strict=True)
                for y in (low, high)
            ]
        )
        inner = corners + 1e-3 * (middle - corners)
        assert any(patch.get_path().contains_points(inner).all() for patch in ax.patches)
    assert {line.get_gid() for line in ax.get_lines() if line.get_gid()} == {
        curve.label for curve in DIAGRAM.curves
    }
    texts = {text.get_text() for text in ax.texts}
    assert {"tricritical", "uniform"} <= texts
    assert ax.get_xlabel() == r"$\beta$"
    assert "beta=" not in ax.get_legend().get_title().get_text()
    # A smoothed curve passes through the points of the record.
    (drawn,) = [line for line in ax.get_lines() if line.get_gid() == LINE.label]
    points = np.column_stack(drawn.get_data())
    near = np.min(
        np.linalg.norm(points[:, np.newaxis] - np.column_stack([LINE.first, LINE.relative_coupling]), axis=2),
        axis=0,
    )
    assert np.max(near) <= 1e-15
    (line,) = LINE.plot().get_lines()[:1]
    drawn = np.column_stack(line.get_data())
    assert all(place in drawn.tolist() for place in LINE.values.tolist())


def test_auto_files_have_two_free_parameters_and_labels_of_their_types(tmp_path):
    written = DIAGRAM.to_auto(tmp_path / "phase.auto")
    assert [path.name for path in written] == ["b.phase", "s.phase", "c.phase", "phase.f90", "d.phase"]
    lines = written[0].read_text().splitlines()
    assert sum("Active continuation parameters:     3   1" in line for line in lines) == 2
    (columns, *_) = [line for line in lines if " PT " in line]
    assert columns.split()[4:6] == ["PAR(3)", "L2-NORM"]
    assert columns.split()[-1] == "PAR(1)"
    data = [line for line in lines if not line.startswith("   0")]
    found = np.array([[float(line[19 + 19 * k : 38 + 19 * k]) for k in range(5)] for line in data[:5]])
    # Eleven digits.
    np.testing.assert_allclose(found[:, [0, -1]], LINE.values, rtol=1e-10)
    np.testing.assert_allclose(found[:, 2:4], LINE.cosine[:, 1:], rtol=1e-10, atol=1e-16)
    codes = [int(line[10:14]) for line in data]
    assert set(codes[:5]) == {4, 0}
    assert set(codes[5:]) == {2, 0}


def test_labelled_points_hold_the_state_and_all_parameters(tmp_path):
    _, solutions, *_ = LINE.to_auto(tmp_path / "line.auto")
    lines = solutions.read_text().splitlines()
    header = [int(word) for word in lines[0].split()]
    # NFPR, NTPL, NAR, NROWPR, NPAR and NDIM.
    assert (header[4], header[6], header[11], header[13]) == (1, 1, 3, 3)
    assert header[8] == 2
    body = [float(word) for line in lines[1:3] for word in line.split()]
    assert body[0] == 0.0
    np.testing.assert_allclose(body[1:3], LINE.cosine[0, 1:], atol=1e-16)
    # The second parameter is an unknown where free energies are equal.
    np.testing.assert_allclose(body[3:], [LINE.coupling[0], LINE.coupling[0], 1.0, LINE.first[0]], rtol=1e-10)


def test_the_picture_dots_what_is_not_confirmed():
    dotted = [patch for patch in DIAGRAM.plot().patches if patch.get_hatch() == "..."]
    assert len(dotted) == sum(region.agrees is False for region in DIAGRAM.regions) == 1
    assert "not confirmed" in {text.get_text() for text in DIAGRAM.plot().get_legend().get_texts()}
    sure = dataclasses.replace(
        DIAGRAM, regions=tuple(dataclasses.replace(region, agrees=True) for region in DIAGRAM.regions)
    )
    assert not any(patch.get_hatch() == "..." for patch in sure.plot().patches)
    assert "not confirmed" not in {text.get_text() for text in sure.plot().get_legend().get_texts()}


def test_the_legend_says_what_faint_curves_are_where_there_are_any():
    """Between regions of one minimiser and number of stable states nothing changes."""
    (line, *others), regions = DIAGRAM.curves, DIAGRAM.regions
    unstable = dataclasses.replace(line, unstable=np.full(len(line), 1))
    for curves, expected in (((line, *others), False), ((unstable, *others), True)):
        ax = dataclasses.replace(DIAGRAM, curves=curves, regions=regions).plot()
        faint = [drawn for drawn in ax.get_lines() if drawn.get_gid() and drawn.get_color() == "0.62"]
        shown = {text.get_text() for text in ax.get_legend().get_texts()}
        assert bool(faint) == ("no stable state changes" in shown) == expected


@pytest.mark.parametrize("kind", [None, "end point", "triple point", "tricritical"])
def test_lines_between_states_of_one_name_are_bold_up_to_where_a_third_is_as_low(kind):
    """They are the lowest where no others are stable, left of 3, and so beside it; no name of a region tells."""
    line = dataclasses.replace(LINE, label="transition 1-cluster | 1-cluster", special_points=())
    beta = np.array([2.5, 3.0, 3.0, 4.0])
    height = np.interp(beta, line.first, line.relative_coupling)
    regions = tuple(
        dataclasses.replace(
            DIAGRAM.regions[1], stable=stable, first=beta[part], lower=lower[part], upper=upper[part],
            strip=np.zeros(2, dtype=int), found_stable=stable, agrees=True,
        )
        for stable, part in ((2, slice(2)), (3, slice(2, 4)))
        for lower, upper in ((np.full(4, 0.5), height), (height, np.full(4, 1.5)))
    )  # fmt: skip
    place = float(np.interp(3.5, line.first, line.relative_coupling))
    point = dataclasses.replace(
        LINE.special_points[0], type=kind or "cusp", values=np.array([3.5, 0.0]), relative_coupling=place
    )
    points = () if kind is None else (point,)
    drawn = dataclasses.replace(
        DIAGRAM, curves=(line,), origins=("",), special_points=points, regions=regions
    ).plot()
    bold = [piece.get_xdata() for piece in drawn.get_lines() if piece.get_gid() and piece.get_color() != "0.62"]
    (places,) = bold
    ends = 3.5 if kind in ("end point", "triple point") else 4.0
    assert places.min() == 2.5
    # To a piece of the line, between whose points it is drawn, a twelfth of the distance of its points.
    assert places.max() == pytest.approx(ends, abs=1.5 / 4 / 12)


@pytest.mark.parametrize("apart", [0.0, 0.03, 0.06])
def test_names_of_neighbouring_points_are_nearest_to_their_own_markers(apart):
    (point,) = LINE.special_points
    kinds = ("tricritical", "end point", "triple point")
    points = tuple(
        dataclasses.replace(point, type=kind, values=np.array([3.2 + apart * place, 0.0]), relative_coupling=1.0)
        for place, kind in enumerate(kinds)
    )
    ax = dataclasses.replace(DIAGRAM, special_points=points).plot()
    ax.figure.draw_without_rendering()
    markers = {line.get_marker(): ax.transData.transform(line.get_xydata()[0]) for line in ax.get_lines()}
    led = [text.get_position() for text in ax.texts if not text.get_text()]
    for text in ax.texts:
        if text.get_text() not in kinds:
            continue
        box = text.get_window_extent()
        own = {"tricritical": "o", "end point": "D", "triple point": "^"}[text.get_text()]
        distances = {
            mark: np.hypot(*(np.clip(markers[mark], (box.x0, box.y0), (box.x1, box.y1)) - markers[mark]))
            for mark in "oD^"
        }
        near = min(distances.values())
        # Where it is not, or as near to another one, a line leads from the name to its marker.
        assert text.get_position() in led or apart == 0.0 or distances[own] == near


def test_crowded_pictures_name_the_points_at_which_stable_states_change():
    """The others are small and grey, and the legend has their markers; where there are few all are named."""
    (point,) = LINE.special_points
    # A triple point lies between points of the line, of which it is none.
    beta, height = (float(values[:2].mean()) for values in (LINE.first, LINE.relative_coupling))
    triple = dataclasses.replace(point, type="triple point", values=np.array([beta, 0.0]), relative_coupling=height)
    places = [(2.7 + 0.1 * number, 1.2) for number in range(12)]
    further = tuple(
        dataclasses.replace(point, type="cusp", values=np.array([beta, 0.0]), relative_coupling=height)
        for beta, height in places
    )
    for others, crowded in ((further[:3], False), (further, True)):
        ax = dataclasses.replace(DIAGRAM, special_points=(point, triple, *others)).plot()
        named = {text.get_text() for text in ax.texts} & {"tricritical", "triple point", "cusp"}
        assert named == {"tricritical", "triple point"} | (set() if crowded else {"cusp"})
        sizes = {line.get_marker(): line.get_markersize() for line in ax.get_lines() if line.get_marker() in "ov"}
        assert (sizes["v"] < sizes["o"]) == crowded
        shown = {text.get_text() for text in ax.get_legend().get_texts()}
        assert shown & {"tricritical", "triple point", "cusp"} == ({"cusp"} if crowded else set())
