//! Which row a query goes to that moves from row to row.

use crate::app::features::live::state::Target;
use crate::app::features::picking::search::nearest_row;
use crate::app::model::camera::place;
use crate::cloud::PointCloud;
use crate::progress::Progress;

impl Target {
    /// The nearest row; `None` where there is none that way, or when cancelled.
    pub fn row(&self, drawn: &PointCloud, progress: &dyn Progress) -> Option<u32> {
        let far = |row: usize| {
            let [x, y] = place(drawn, row, self.axes);
            let away = [x - self.at[0], y - self.at[1]];
            let wanted = self.way.is_none_or(|way| {
                let along = away[0] * way[0] + away[1] * way[1];
                along > 0.0 && (away[0] * way[1] - away[1] * way[0]).abs() <= along
            });
            wanted.then(|| (away[0] * away[0] + away[1] * away[1], 0.0))
        };
        nearest_row(drawn.len(), &far, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;
    use crate::progress::Silent;

    #[test]
    fn arrow_keys_go_to_the_row_that_way() {
        let cloud = cloud(300, 3, 2);
        let axes = [0, 2];
        let at = place(&cloud, 5, axes);
        let to = |way: Option<[f64; 2]>| Target { axes, at, way }.row(&cloud, &Silent);
        let right = place(&cloud, to(Some([8.0, 0.0])).expect("there are rows to the right") as usize, axes);
        assert!(right[0] > at[0] && (right[1] - at[1]).abs() <= right[0] - at[0]);
        assert!(place(&cloud, to(Some([0.0, 8.0])).expect("there are rows above") as usize, axes)[1] > at[1]);
        assert_eq!(to(None), Some(5));
        let far_right = Target { axes, at: [9.0, 0.0], way: Some([1.0, 0.0]) };
        assert_eq!(far_right.row(&cloud, &Silent), None, "there is nothing that way");
    }
}
