//! The table of compilation units, `cuda/units.txt`.

/// A source of `cuda/` for a capacity and a number of dimensions; 0 means any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The entry file below `cuda/`, without its extension.
    pub source: String,
    pub k: u32,
    pub d: u32,
    /// The oldest architecture that supports its instructions; its PTX can be compiled for every later one.
    pub oldest: u32,
    /// Whether a program contains it in compiled form. NVRTC compiles the others on demand, from their text.
    pub embedded: bool,
}

impl Unit {
    /// Name of the fat binary in `OUT_DIR`.
    pub fn file_name(&self) -> String {
        format!("{}_k{}_d{}.fatbin", flat(&self.source), self.k, self.d)
    }
}

/// Converts a source's path to a file name in a single folder.
pub fn flat(source: &str) -> String {
    source.replace('/', "_")
}

/// All combinations of the table, in its order.
///
/// # Errors
/// The first line that is not `source capacities dimensions oldest when`.
pub fn parse(table: &str) -> Result<Vec<Unit>, String> {
    let mut units = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let wrong = |what: &str| format!("cuda/units.txt: {line:?}: {what}");
        let [source, capacities, dims, oldest, when] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(wrong("expected: source capacities dimensions oldest when"));
        };
        let numbers = |list: &str| {
            list.split(',')
                .map(str::parse)
                .collect::<Result<Vec<u32>, _>>()
                .map_err(|_| wrong("not a number"))
        };
        let oldest = oldest.parse().map_err(|_| wrong("expected an architecture such as 75"))?;
        let embedded = match when {
            "embedded" => true,
            "on-demand" => false,
            _ => return Err(wrong("expected embedded or on-demand")),
        };
        if units.iter().any(|unit: &Unit| unit.source == source) {
            return Err(wrong("duplicate source"));
        }
        let dims = numbers(dims)?;
        for k in numbers(capacities)? {
            units.extend(dims.iter().map(|&d| Unit { source: source.to_owned(), k, d, oldest, embedded }));
        }
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_lines_expand_to_all_combinations() {
        let units = parse("# a comment\nfolder/a 32,64 2,0 75 embedded\nb 0 0 80 on-demand\n").unwrap();
        let found: Vec<_> = units
            .iter()
            .map(|unit| (unit.source.as_str(), unit.k, unit.d, unit.oldest, unit.embedded))
            .collect();
        let a = |k, d| ("folder/a", k, d, 75, true);
        assert_eq!(found, [a(32, 2), a(32, 0), a(64, 2), a(64, 0), ("b", 0, 0, 80, false)]);
        assert_eq!(units[0].file_name(), "folder_a_k32_d2.fatbin");
    }

    #[test]
    fn invalid_unit_lines_are_rejected() {
        for line in [
            "a 32 2 75",
            "a 32 2 75 sometimes",
            "a x 2 75 embedded",
            "a 32 2 new embedded",
            "",
            "b 64 2 75 on-demand",
        ] {
            let why = parse(&format!("b 32 2 75 embedded\n{line}\n")).unwrap_err();
            assert!(why.starts_with(&format!("cuda/units.txt: {line:?}: ")), "{why}");
        }
    }
}
