//! A query point given by coordinates, typed or picked with the pointer.

use super::{CloudError, Column, Coordinates, PointCloud, Source, Table};

/// Builds a cloud of one point, rounded relative to the origins of `data` like a query file.
///
/// # Errors
/// [`CloudError::Coordinates`] unless there is one finite coordinate per axis of the data;
/// [`CloudError::TooLarge`].
pub fn cloud(at: &[f64], data: &PointCloud) -> Result<PointCloud, CloudError> {
    let wrong = |why: String| CloudError::Coordinates { at: format(at), why };
    if at.len() != data.dims() {
        let names: Vec<&str> = data.axes().iter().map(|axis| axis.name.as_str()).take(4).collect();
        let more = if data.dims() > names.len() { ", …" } else { "" };
        let coordinates = if data.dims() == 1 { "coordinate" } else { "coordinates" };
        return Err(wrong(format!(
            "expected {} {coordinates} ({}{more}), found {}",
            data.dims(),
            names.join(", "),
            at.len()
        )));
    }
    if let Some(axis) = at.iter().position(|value| !value.is_finite()) {
        return Err(wrong(format!("{} is {}, which is not finite", data.axes()[axis].name, at[axis])));
    }
    if let Some(axis) =
        (0..at.len()).find(|&axis| !((at[axis] - data.axes()[axis].origin) as f32).is_finite())
    {
        return Err(wrong(format!(
            "{} is {:e}, which does not fit a 32-bit float",
            data.axes()[axis].name,
            at[axis]
        )));
    }
    let columns = data.axes().iter().map(|axis| Column { name: axis.name.clone() }).collect();
    // As typed.
    let decimals = Coordinates { decimals: true, ..Table { columns, values: at.to_vec() }.into() };
    PointCloud::from_table(decimals, Source::Coordinates(format(at)), Some(data), false)
}

/// Formats coordinates as in `-0.1275,51.507`.
pub fn format(at: &[f64]) -> String {
    // Use scientific notation where plain notation would have many zeros.
    let number = |value: &f64| match value.abs() {
        size if size != 0.0 && !(1e-7..1e16).contains(&size) && size.is_finite() => format!("{value:e}"),
        _ => value.to_string(),
    };
    at.iter().map(number).collect::<Vec<_>>().join(",")
}

/// Parses the format of [`format()`].
///
/// # Errors
/// The item that is not a number.
pub fn parse(text: &str) -> Result<Vec<f64>, String> {
    text.split(',').map(str::trim).map(|part| part.parse().map_err(|_| part.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> PointCloud {
        crate::tests::cloud(&["east", "north"], vec![515_368.5, 4_918_340.364, 515_401.0, 4_918_381.123_75])
    }

    #[test]
    fn query_points_share_the_origin_of_the_data() {
        let data = data();
        let place = cloud(&[515_370.25, 4_918_350.1], &data).unwrap();
        assert_eq!(
            (place.len(), place.dims(), place.source()),
            (1, 2, &Source::Coordinates("515370.25,4918350.1".to_owned()))
        );
        assert!(data.axes()[1].origin != 0.0 && place.axes()[1].origin == data.axes()[1].origin);
        assert_eq!(f64::from(place.point(0)[1]), f64::from((4_918_350.1 - data.axes()[1].origin) as f32));
        assert_eq!([place.coordinate(0, 0), place.coordinate(0, 1)], [515_370.25, 4_918_350.1]);
    }

    #[test]
    fn invalid_query_points_are_refused() {
        let message = |at: &[f64]| cloud(at, &data()).unwrap_err().to_string();
        assert_eq!(message(&[1.0]), "query point 1: expected 2 coordinates (east, north), found 1");
        assert_eq!(message(&[1.0, f64::NAN]), "query point 1,NaN: north is NaN, which is not finite");
        assert_eq!(
            message(&[1e300, 0.0]),
            "query point 1e300,0: east is 1e300, which does not fit a 32-bit float"
        );
    }

    #[test]
    fn query_points_round_trip() {
        for at in [vec![-0.1, 1e-300, 5.0], vec![f64::MAX, 1.0 / 3.0]] {
            assert_eq!(parse(&format(&at)), Ok(at));
        }
        assert_eq!(parse("1, x"), Err("x".to_owned()));
    }
}
