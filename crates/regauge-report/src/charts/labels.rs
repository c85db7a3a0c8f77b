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

    fn holds(self, other: Area) -> bool {
        self.0 <= other.0 && other.2 <= self.2 && self.1 <= other.1 && other.3 <= self.3
    }
}

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
/// `frame` and clear of all `points`; nothing for a label that has no room.
pub fn places(
    wanted: &[((f64, f64), f64)],
    points: &[(f64, f64)],
    frame: Area,
) -> Vec<Option<Place>> {
    let mut taken: Vec<Area> = points.iter().map(|point| Area::around(*point)).collect();
    let mut places = Vec::with_capacity(wanted.len());
    for &(point, width) in wanted {
        let found = candidates(point, frame).find_map(|place| {
            let (from, to) = match place.is_left {
                true => (place.x - width, place.x),
                false => (place.x, place.x + width),
            };
            let area = Area(from, place.y - HALF, to, place.y + HALF);
            let is_free = frame.holds(area) && !taken.iter().any(|one| one.overlaps(area));
            is_free.then_some((place, area))
        });
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
        let place = |point| places(&[(point, 60.0)], &[point], FRAME)[0].unwrap();
        assert_eq!(place((50.0, 100.0)), Place { x: 61.0, y: 100.0, is_left: false });
        assert_eq!(place((250.0, 100.0)), Place { x: 239.0, y: 100.0, is_left: true });
    }

    #[test]
    fn labels_cover_neither_each_other_nor_a_point() {
        let points: Vec<(f64, f64)> =
            [(50.0, 100.0), (52.0, 101.0), (70.0, 98.0), (51.0, 120.0), (290.0, 5.0)].to_vec();
        let wanted: Vec<_> = points.iter().map(|point| (*point, 80.0)).collect();
        let placed = places(&wanted, &points, FRAME);
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
    fn a_label_without_room_is_left_out() {
        assert_eq!(places(&[((50.0, 100.0), 400.0)], &[(50.0, 100.0)], FRAME), [None]);
    }
}
