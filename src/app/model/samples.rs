//! Clouds that ship with the program, to try it on.

/// A cloud that needs no file of one's own.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub title: &'static str,
    pub about: &'static str,
    pub material: Material,
}

/// What a sample is made of.
#[derive(Clone, Copy, Debug)]
pub enum Material {
    /// A file, by its name and its content.
    File { name: &'static str, text: &'static str },
    /// What is generated needs no file; with the seed of the fields on the left.
    Spec(&'static str),
}

pub static SAMPLES: [Sample; 3] = [
    Sample {
        title: "Capitals of the world",
        about: "161 capitals by longitude and latitude, to within ten kilometres, with country and continent.",
        material: Material::File { name: "capitals.csv", text: include_str!("../../../assets/samples/capitals.csv") },
    },
    Sample { title: "A swiss roll", about: "20,000 points on a rolled sheet in three dimensions.", material: Material::Spec("swiss-roll:n=20000") },
    Sample {
        title: "Ten clusters in 16 dimensions",
        about: "5,000 points about ten centres; principal components show them apart.",
        material: Material::Spec("gaussian-mixture:n=5000,d=16,clusters=10"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Source, load};
    use crate::progress::Silent;

    /// Each can be opened, and has what its text promises.
    #[test]
    fn samples_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let sizes = SAMPLES.map(|sample| {
            let source = match sample.material {
                Material::File { name, text } => {
                    let path = folder.path().join(name);
                    std::fs::write(&path, text).expect("a file");
                    Source::File { path, columns: Default::default() }
                }
                Material::Spec(spec) => Source::Generate { spec: spec.to_owned(), seed: 1 },
            };
            let cloud = load(&source, false, &Silent).expect("a cloud");
            (cloud.len(), cloud.dims())
        });
        assert_eq!(sizes, [(161, 2), (20_000, 3), (5_000, 16)]);
    }
}
