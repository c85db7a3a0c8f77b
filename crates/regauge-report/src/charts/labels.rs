//! Places labels beside points so that they cover neither each other nor a point.

/// Half the height of a label.
const HALF: f64 = 7.0;
/// From a point to its label.
const GAP: f64 = 11.0;
/// What a point takes to each side.
const POINT: f64 = 5.0;
/// Labels are moved up or down in steps of this, and no more than so often.
const STEP: f64 = 7.0;
const STEPS_MAX: i32 = 10;

/// A rectangle: left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area(pub f64, pub f64, pub f64, pub f64);

impl Area {
    fn around((x, y): (f64, f64)) -> Area {
        Area(x - POINT, y - POINT, x + POINT, y + POINT)
    }

    fn overlaps(self, other: Area) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }

    /// Returns whether a line passes through it.
    fn meets(self, ((x0, y0), (x1, y1)): Segment) -> bool {
        // The part of the line inside each pair of sides, from 0 to 1: Liang and Barsky.
        let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
        for (from, step, low, high) in
            [(x0, x1 - x0, self.0, self.2), (y0, y1 - y0, self.1, self.3)]
        {
            if step == 0.0 {
                if from < low || from > high {
                    return false;
                }
                continue;
            }
            let (one, other) = ((low - from) / step, (high - from) / step);
            enters = enters.max(one.min(other));
            leaves = leaves.min(one.max(other));
        }
        enters <= leaves
    }

    fn holds(self, other: Area) -> bool {
        self.0 <= other.0 && other.2 <= self.2 && self.1 <= other.1 && other.3 <= self.3
    }
}

/// A straight line from a point to a point.
pub type Segment = ((f64, f64), (f64, f64));

/// Where a label goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Where its text begins, or ends if it is left of its point.
    pub x: f64,
    /// Its middle.
    pub y: f64,
    /// Whether it is left of its point.
    pub is_left: bool,
}

/// Returns a place for the label of each of `wanted`, a point and the width of its text, inside
/// `frame` and clear of all `points`; nothing for a label that has no room. A label crosses one of the
/// `lines` only if it has no other room.
pub fn places(
    wanted: &[((f64, f64), f64)],
    points: &[(f64, f64)],
    lines: &[Segment],
    frame: Area,
) -> Vec<Option<Place>> {
    let mut taken: Vec<Area> = points.iter().map(|point| Area::around(*point)).collect();
    let mut places = Vec::with_capacity(wanted.len());
    for &(point, width) in wanted {
        let free = |place: Place| {
            let (from, to) = match place.is_left {
                true => (place.x - width, place.x),
                false => (place.x, place.x + width),
            };
            let area = Area(from, place.y - HALF, to, place.y + HALF);
            let is_free = frame.holds(area) && !taken.iter().any(|one| one.overlaps(area));
            is_free.then_some((place, area))
        };
        let is_clear = |(_, area): &(Place, Area)| !lines.iter().any(|line| area.meets(*line));
        let found = candidates(point, frame)
            .filter_map(free)
            .find(is_clear)
            .or_else(|| candidates(point, frame).find_map(free));
        taken.extend(found.map(|(_, area)| area));
        places.push(found.map(|(place, _)| place));
    }
    places
}

/// Returns places for a label, the nearest to its point first.
fn candidates((x, y): (f64, f64), frame: Area) -> impl Iterator<Item = Place> {
    let starts_right = x < (frame.0 + frame.2) / 2.0;
    // 0, one up, one down, two up …
    let steps = (0..=2 * STEPS_MAX).map(|n| if n % 2 == 0 { n / 2 } else { -(n + 1) / 2 });
    steps.flat_map(move |step| {
        [!starts_right, starts_right].map(|is_left| Place {
            x: if is_left { x - GAP } else { x + GAP },
            y: y + f64::from(step) * STEP,
            is_left,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Area = Area(0.0, 0.0, 300.0, 200.0);

    #[test]
    fn a_label_alone_is_beside_its_point_and_inside_the_frame() {
        let place = |point| places(&[(point, 60.0)], &[point], &[], FRAME)[0].unwrap();
        assert_eq!(place((50.0, 100.0)), Place { x: 61.0, y: 100.0, is_left: false });
        assert_eq!(place((250.0, 100.0)), Place { x: 239.0, y: 100.0, is_left: true });
    }

    #[test]
    fn labels_cover_neither_each_other_nor_a_point() {
        let points: Vec<(f64, f64)> =
            [(50.0, 100.0), (52.0, 101.0), (70.0, 98.0), (51.0, 120.0), (290.0, 5.0)].to_vec();
        let wanted: Vec<_> = points.iter().map(|point| (*point, 80.0)).collect();
        let placed = places(&wanted, &points, &[], FRAME);
        let areas: Vec<Area> = placed
            .iter()
            .map(|place| {
                let place = place.unwrap();
                let from = if place.is_left { place.x - 80.0 } else { place.x };
                Area(from, place.y - HALF, from + 80.0, place.y + HALF)
            })
            .collect();
        for (index, area) in areas.iter().enumerate() {
            assert!(FRAME.holds(*area), "{area:?}");
            assert!(areas[index + 1..].iter().all(|other| !other.overlaps(*area)), "{areas:?}");
            assert!(points.iter().all(|point| !Area::around(*point).overlaps(*area)), "{areas:?}");
        }
    }

    #[test]
    fn a_label_is_not_struck_through_if_it_has_other_room() {
        let point = (50.0, 100.0);
        let line = (point, (250.0, 100.0));
        let place = places(&[(point, 60.0)], &[point], &[line], FRAME)[0].unwrap();
        assert!((place.y - 100.0).abs() > HALF, "{place:?}");
        let area = Area(10.0, 10.0, 20.0, 20.0);
        assert!(area.meets(((0.0, 0.0), (30.0, 30.0))) && area.meets(((15.0, 0.0), (15.0, 30.0))));
        assert!(
            !area.meets(((0.0, 15.0), (9.0, 15.0))) && !area.meets(((0.0, 21.0), (30.0, 21.0)))
        );
        // Lines everywhere: better struck through than left out.
        let lines: Vec<Segment> =
            (0..200).map(|y| ((0.0, f64::from(y)), (300.0, f64::from(y)))).collect();
        assert!(places(&[(point, 60.0)], &[point], &lines, FRAME)[0].is_some());
    }

    #[test]
    fn a_label_without_room_is_left_out() {
        assert_eq!(places(&[((50.0, 100.0), 400.0)], &[(50.0, 100.0)], &[], FRAME), [None]);
    }
}
