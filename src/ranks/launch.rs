//! How launchers number the processes of a job: by environment variables.

use super::RankError;

/// A process of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// From 0.
    pub rank: usize,
    /// The number of processes, at least 2.
    pub world: usize,
    /// The number among the processes of its machine.
    pub local: usize,
}

/// A process and where it meets the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub rank: Rank,
    /// `HOST:PORT` of rank 0, or `file:DIR`.
    pub place: String,
    /// Whether the launcher chose the place.
    pub is_default: bool,
}

/// The place of processes that do not work together.
const ALONE: &str = "none";

/// A launcher, and the variables with rank, number of processes and local rank.
type Launcher = (&'static str, [&'static str; 3]);

/// It chooses a place to meet. Clusters set its first two variables for other programs, too. Its processes may
/// be started by MPI.
const TORCHRUN: Launcher = ("torchrun", ["RANK", "WORLD_SIZE", "LOCAL_RANK"]);

/// Their processes all write the same file if they have no place to meet.
const MPI: [Launcher; 2] = [
    ("Open MPI", ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"]),
    ("MPI", ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"]),
];

/// Batch scripts have these variables as well, so they mean nothing without a place to meet.
const SLURM: [Launcher; 2] = [
    ("srun", ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"]),
    ("srun", ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"]),
];

impl Launch {
    /// Finds out whether this process is one of several. `place` is the user's; `variable` reads the
    /// environment.
    ///
    /// # Errors
    /// [`RankError`] for variables with invalid values, and if launcher or place are missing.
    pub fn find(
        place: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, RankError> {
        if place == Some(ALONE) {
            return Ok(None);
        }
        let number = |name: &'static str| match variable(name) {
            Some(value) => value.trim().parse::<usize>().map_err(|_| RankError::Variable { name, value }),
            None => Ok(0),
        };
        let is_set = |(_, [rank, world, _]): &&Launcher| variable(rank).and(variable(world)).is_some();
        let torchrun = Some(&TORCHRUN).filter(|(_, [.., local])| variable(local).is_some());
        let slurm = SLURM.iter().filter(|_| place.is_some());
        let Some(&(launcher, names)) = torchrun.into_iter().chain(&MPI).chain(slurm).find(is_set) else {
            let lost = place.map(|place| RankError::NoLauncher { place: place.to_owned() });
            return lost.map_or(Ok(None), Err);
        };
        // Slurm starts processes of MPI that have no local number of their own.
        let local = if variable(names[2]).is_some() { names[2] } else { SLURM[0].1[2] };
        let [rank, world, local] = [number(names[0])?, number(names[1])?, number(local)?];
        if rank >= world {
            let value = format!("{rank}, of {world} processes");
            return Err(RankError::Variable { name: names[0], value });
        }
        if world == 1 {
            return Ok(None);
        }
        let address = match (place, variable("MASTER_ADDR")) {
            (Some(place), _) => place.to_owned(),
            (None, Some(host)) if launcher == TORCHRUN.0 => {
                // torchrun itself may listen on the port.
                let is_taken = variable("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|value| value == "True");
                let port = number("MASTER_PORT")?.saturating_add(usize::from(is_taken));
                let host = if host.contains(':') { format!("[{host}]") } else { host };
                let wrong = |_| RankError::Variable { name: "MASTER_PORT", value: port.to_string() };
                self::place(&format!("{host}:{port}")).map_err(wrong)?
            }
            _ => return Err(RankError::NoPlace { launcher, world }),
        };
        Ok(Some(Self { rank: Rank { rank, world, local }, is_default: place.is_none(), place: address }))
    }
}

/// Checks a place to meet: `HOST:PORT`, `file:DIR` or `none`.
///
/// # Errors
/// If it is something else.
pub fn place(text: &str) -> Result<String, String> {
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_host = |host: &str| !host.is_empty() && (!host.contains(':') || host.starts_with('['));
    let is_address =
        |text: &str| text.rsplit_once(':').is_some_and(|(host, port)| is_host(host) && is_port(port));
    if text == ALONE
        || text.strip_prefix("file:").map_or_else(|| is_address(text), |folder| !folder.is_empty())
    {
        Ok(text.to_owned())
    } else {
        Err("expected HOST:PORT, file:DIR or none".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found for variables written as `NAME=value NAME=value`.
    fn found(place: Option<&str>, variables: &str) -> Result<Option<Launch>, String> {
        let variable = |name: &str| {
            let all = variables.split_whitespace().filter_map(|variable| variable.split_once('='));
            all.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        };
        Launch::find(place, variable).map_err(|why| why.to_string())
    }

    fn numbers(place: Option<&str>, variables: &str) -> (usize, usize, usize, String) {
        let Launch { rank: Rank { rank, world, local }, place, .. } =
            found(place, variables).unwrap().unwrap();
        (rank, world, local, place)
    }

    const TORCHRUN: &str = "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 MASTER_ADDR=node0 MASTER_PORT=29400";

    #[test]
    fn processes_of_every_launcher_are_numbered() {
        let place = Some("file:/shared");
        for variables in [
            "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1",
            "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1",
            "PMI_RANK=3 PMI_SIZE=4 MPI_LOCALRANKID=1",
            "SLURM_PROCID=3 SLURM_NTASKS=4 SLURM_LOCALID=1",
            "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=9 SLURM_LOCALID=1",
            "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 SLURM_PROCID=0 \
             SLURM_NTASKS=1",
            "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2",
            "RANK=0 WORLD_SIZE=2 PMI_RANK=3 PMI_SIZE=4 MPI_LOCALRANKID=1",
        ] {
            assert_eq!(numbers(place, variables), (3, 4, 1, "file:/shared".to_owned()), "{variables}");
        }
        assert_eq!(numbers(place, "PMI_RANK=1 PMI_SIZE=2 SLURM_LOCALID=1").2, 1);
        assert_eq!(numbers(place, "PMI_RANK=1 PMI_SIZE=2").2, 0, "a local number may be missing");
    }

    #[test]
    fn processes_of_torchrun_meet_at_its_address() {
        assert_eq!(numbers(None, TORCHRUN), (3, 4, 1, "node0:29400".to_owned()));
        let elastic = format!("{TORCHRUN} TORCHELASTIC_USE_AGENT_STORE=True");
        assert_eq!(numbers(None, &elastic).3, "node0:29401");
        assert_eq!(numbers(Some("node9:80"), &elastic).3, "node9:80");
        assert!(found(None, &elastic).unwrap().unwrap().is_default);
        assert_eq!(numbers(None, &TORCHRUN.replace("node0", "fe80::1")).3, "[fe80::1]:29400");
    }

    #[test]
    fn one_process_and_batch_scripts_have_no_rank() {
        for variables in [
            "",
            "RANK=3",
            "RANK=x",
            "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1",
            "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1",
            "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_LOCALID=0",
        ] {
            assert_eq!(found(None, variables), Ok(None), "{variables}");
        }
        assert_eq!(found(Some("a:1"), "RANK=0 WORLD_SIZE=1 LOCAL_RANK=0"), Ok(None));
        assert_eq!(found(Some("none"), TORCHRUN), Ok(None));
    }

    #[test]
    fn wrong_variables_are_named() {
        for (place, variables, why) in [
            (None, "RANK=x WORLD_SIZE=4 LOCAL_RANK=0", "RANK=x: invalid value of an"),
            (None, "RANK=1 WORLD_SIZE=-4 LOCAL_RANK=0", "WORLD_SIZE=-4: invalid value of an"),
            (None, "RANK=4 WORLD_SIZE=4 LOCAL_RANK=0", "RANK=4, of 4 processes: invalid value"),
            (None, "RANK=0 WORLD_SIZE=0 LOCAL_RANK=0", "RANK=0, of 0 processes: invalid value"),
            (None, "RANK=1 WORLD_SIZE=4 LOCAL_RANK=x", "LOCAL_RANK=x: invalid value of an"),
            (None, "RANK=1 WORLD_SIZE=4 LOCAL_RANK=1", "torchrun started 4 processes, which would all"),
            (None, "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "Open MPI started 2 processes, which"),
            (Some("a:1"), "SLURM_PROCID=1 SLURM_NTASKS=", "SLURM_NTASKS=: invalid value of an"),
            (Some("file:/a"), "", "--rendezvous file:/a: no launcher has numbered this process"),
        ] {
            let error = found(place, variables).unwrap_err();
            assert!(error.starts_with(why), "{variables}: {error}");
        }
        let last = TORCHRUN.replace("29400", "65535") + " TORCHELASTIC_USE_AGENT_STORE=True";
        assert!(found(None, &last).unwrap_err().starts_with("MASTER_PORT=65536: invalid value of an"));
        let no_port = TORCHRUN.replace("29400", "a");
        assert!(found(None, &no_port).unwrap_err().starts_with("MASTER_PORT=a: invalid value of an"));
    }

    #[test]
    fn places_are_addresses_or_folders() {
        for text in ["node7:29500", "127.0.0.1:1", "[::1]:65535", "file:/shared/dir", "file:a:b"] {
            assert_eq!(place(text).as_deref(), Ok(text));
        }
        for text in ["", "node7", "node7:", ":29500", "node7:0", "node7:65536", "file:", "::1:80", "a:b:c"] {
            assert_eq!(place(text), Err("expected HOST:PORT, file:DIR or none".to_owned()), "{text}");
        }
    }
}
