"""The offset of a clock, and windows that overlap."""

from msgspec import structs

from lab.machine.link import ClockOffset, between, estimate
from lab.run.cell_places import overlap_faults
from lab.run.cell_results import NO_CLIENTS


def test_the_offset_is_that_of_the_middle_of_a_trip_and_its_error_half_of_the_trip_and_the_drift_since() -> None:
    assert estimate(2_000, 7_050, 2_100) == ClockOffset(offset_ns=5_000, error_ns=50)
    assert estimate(0, 5_900, 1_001).error_ns == 501
    before, after = ClockOffset(offset_ns=100, error_ns=10), ClockOffset(offset_ns=140, error_ns=30)
    assert between(before, after) == ClockOffset(offset_ns=120, error_ns=50)


def test_windows_that_hardly_overlap_make_a_cell_invalid() -> None:
    clients = [structs.replace(NO_CLIENTS, finished_ns=end_ns, completion_ns=1000) for end_ns in (1000, 1100)]
    assert overlap_faults(clients, 0) == []  # 900 of 1100
    assert "for only 73% of the measured time" in str(overlap_faults(clients, 50)[0])
    assert overlap_faults(clients[:1], 10**9) == []
