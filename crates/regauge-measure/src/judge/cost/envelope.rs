//! Computes the lower envelope of straight lines: which one is lowest where.

/// A line: `constant + slope * x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub constant: f64,
    pub slope: f64,
}

/// A line that is lowest for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    /// Which of the lines.
    pub line: usize,
    /// The greatest x at which it is; infinite for the first.
    pub until: f64,
}

/// Returns the lines that are lowest somewhere in 0 < x < ∞, from the greatest x down to 0.
///
/// Of equal lines the first is taken. Far out the flattest is lowest; a line can only take over
/// on the way to 0 if it starts lower and is steeper, and the first to do so is the one that it
/// meets at the greatest x (of those that meet there, the steepest: it is lower from there on).
pub(crate) fn lowest(lines: &[Line]) -> Vec<Piece> {
    let flattest = (0..lines.len()).min_by(|one, other| {
        let (one, other) = (lines[*one], lines[*other]);
        one.slope.total_cmp(&other.slope).then(one.constant.total_cmp(&other.constant))
    });
    let Some(mut current) = flattest else { return Vec::new() };
    let mut pieces = vec![Piece { line: current, until: f64::INFINITY }];
    loop {
        let from = lines[current];
        let next = (0..lines.len())
            .filter(|index| lines[*index].constant < from.constant)
            .map(|index| {
                (index, (from.constant - lines[index].constant) / (lines[index].slope - from.slope))
            })
            .filter(|(_, x)| *x > 0.0 && x.is_finite())
            .reduce(|best, other| match other.1.total_cmp(&best.1) {
                std::cmp::Ordering::Greater => other,
                std::cmp::Ordering::Equal if lines[other.0].slope > lines[best.0].slope => other,
                _ => best,
            });
        let Some((index, x)) = next else { return pieces };
        pieces.push(Piece { line: index, until: x });
        current = index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::random::Random;

    fn line(constant: f64, slope: f64) -> Line {
        Line { constant, slope }
    }

    #[test]
    fn two_lines_cross_once() {
        let pieces = lowest(&[line(10.0, 1.0), line(4.0, 3.0)]);
        assert_eq!(pieces.len(), 2);
        assert_eq!((pieces[0].line, pieces[1].line, pieces[1].until), (0, 1, 3.0));
    }

    #[test]
    fn one_that_is_never_lowest_is_passed_over() {
        // The middle one meets the first at x = 2, where the last is already lower.
        let pieces = lowest(&[line(10.0, 1.0), line(8.0, 2.0), line(1.0, 3.0)]);
        let order: Vec<usize> = pieces.iter().map(|piece| piece.line).collect();
        assert_eq!((order, pieces[1].until), (vec![0, 2], 4.5));
    }

    #[test]
    fn three_through_one_point_change_once() {
        let pieces = lowest(&[line(3.0, 1.0), line(2.0, 2.0), line(1.0, 3.0)]);
        let order: Vec<usize> = pieces.iter().map(|piece| piece.line).collect();
        assert_eq!((order, pieces[1].until), (vec![0, 2], 1.0));
    }

    #[test]
    fn none_one_and_equal_ones() {
        assert_eq!(lowest(&[]), []);
        assert_eq!(lowest(&[line(1.0, 1.0)]).len(), 1);
        assert_eq!(lowest(&[line(1.0, 1.0), line(1.0, 1.0)])[0].line, 0);
        // One that is cheaper in everything leaves no crossing.
        assert_eq!(lowest(&[line(2.0, 2.0), line(1.0, 1.0)]).len(), 1);
    }

    /// Against trying every line at many places.
    #[test]
    fn it_is_what_brute_force_finds() {
        let mut random = Random::new(7);
        let mut changes = 0;
        for round in 0..300 {
            // Small whole numbers make equal lines and common points; great ones do not.
            let range = if round % 2 == 0 { 12 } else { 1_000_000 };
            let lines: Vec<Line> = (0..1 + random.below(40))
                .map(|_| line((1 + random.below(range)) as f64, (1 + random.below(range)) as f64))
                .collect();
            let pieces = lowest(&lines);
            changes += pieces.len() - 1;
            let at = |line: Line, x: f64| line.constant + line.slope * x;
            let lowest_at =
                |x: f64| lines.iter().map(|line| at(*line, x)).fold(f64::INFINITY, f64::min);
            let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs();
            assert!(pieces.windows(2).all(|pair| pair[1].until < pair[0].until), "{pieces:?}");
            for step in -160..=160 {
                let x = 10f64.powf(f64::from(step) / 20.0);
                let piece = pieces.iter().rev().find(|piece| x <= piece.until).unwrap();
                let found = at(lines[piece.line], x);
                assert!(close(found, lowest_at(x)), "{x}: {found} in {lines:?}");
            }
            for pair in pieces.windows(2) {
                let x = pair[1].until;
                let (above, below) = (at(lines[pair[0].line], x), at(lines[pair[1].line], x));
                assert!(close(above, below) && close(above, lowest_at(x)), "{x} in {lines:?}");
            }
        }
        assert!(changes > 300, "{changes}");
    }
}
