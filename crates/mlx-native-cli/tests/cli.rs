//! The binary, as its users run it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels.metal");

fn mlx_native(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mlx-native"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a kernel of the test file.
fn run(folder: &Path, kernel: &str, grid: &str, threadgroup: &str, arguments: &[&str]) -> Output {
    let mut all = vec!["run", KERNELS, "--kernel", kernel, "--grid", grid];
    all.extend(["--threadgroup", threadgroup]);
    all.extend(arguments);
    mlx_native(&all, folder)
}

/// The command failed with one sentence that says this.
fn refused(output: &Output, expected: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message.trim().lines().count(), 1, "{message}");
    for part in expected {
        assert!(message.contains(part), "`{message}` lacks `{part}`");
    }
}

fn save<T: npyz::AutoSerialize + Copy>(path: &Path, shape: &[u64], data: &[T]) {
    use npyz::WriterBuilder;
    let mut file = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(shape)
        .writer(&mut file)
        .begin_nd()
        .unwrap();
    writer.extend(data.iter().copied()).unwrap();
    writer.finish().unwrap();
    std::fs::write(path, file).unwrap();
}

fn load(path: &Path) -> (Vec<u64>, Vec<f32>) {
    let file = npyz::NpyFile::new(std::fs::File::open(path).unwrap()).unwrap();
    (file.shape().to_vec(), file.into_vec().unwrap())
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_path_buf();
    (folder, path)
}

#[test]
fn threadgroup_memory_barriers_and_simd_sums() {
    let (_guard, folder) = folder();
    let (rows, columns) = (5, 1000);
    let x: Vec<f32> = (0..rows * columns)
        .map(|i| (i % 97) as f32 - 40.0)
        .collect();
    save(&folder.join("x.npy"), &[rows, columns], &x);
    let arguments = [
        "--arg",
        "0=@x.npy",
        "--arg",
        "1=f32[5]>sums.npy",
        "--arg",
        "2=u32:5,1000",
    ];
    let memory = ["--threadgroup-memory", "0=32"];
    let output = run(
        &folder,
        "row_sums",
        "1280",
        "256",
        &[&arguments[..], &memory].concat(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let (shape, sums) = load(&folder.join("sums.npy"));
    let expected: Vec<f32> = x.chunks(1000).map(|row| row.iter().sum()).collect();
    assert_eq!(
        (shape, sums),
        (vec![5], expected),
        "sums of whole numbers are exact"
    );
}

#[test]
fn vectors_and_a_grid_that_the_threadgroup_does_not_divide() {
    let (_guard, folder) = folder();
    let (width, height) = (13, 7);
    let count = width * height;
    // A float3 takes four places.
    let colours: Vec<f32> = (0..4 * count).map(|i| i as f32 * 0.5).collect();
    let offsets: Vec<i32> = (0..4 * count).map(|i| (i * i) % 31 - 15).collect();
    save(&folder.join("c.npy"), &[count as u64, 4], &colours);
    save(&folder.join("o.npy"), &[count as u64, 4], &offsets);
    let arguments = [
        "--arg",
        "0=@c.npy",
        "--arg",
        "1=@o.npy",
        "--arg",
        "2=f32[7,13]>out.npy",
    ];
    let output = run(&folder, "mix_colours", "13,7", "8,4", &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let (shape, out) = load(&folder.join("out.npy"));
    assert_eq!(shape, [7, 13]);
    for i in 0..count as usize {
        let (c, o) = (&colours[4 * i..], &offsets[4 * i..]);
        let offset = (o[0] + o[1] + o[3] - o[2]) as f32;
        assert_eq!(
            out[i],
            c[0] * 0.5 + c[1] * 0.25 + c[2] * 0.125 + offset,
            "{i}"
        );
    }
}

#[test]
fn function_constants_are_given_by_index() {
    let (_guard, folder) = folder();
    let go = |constants: &[&str]| {
        let arguments = [&["--arg", "0=f32[4]>y.npy"], constants].concat();
        run(&folder, "shifted", "4", "4", &arguments)
    };
    for (negated, sign) in [("0=bool:true", -1.0), ("0=bool:false", 1.0)] {
        let output = go(&["--constant", negated, "--constant", "1=i32:10,20,30,40"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let expected = [10.0f32, 21.0, 32.0, 43.0].map(|v| sign * v);
        assert_eq!(load(&folder.join("y.npy")).1, expected);
    }
    refused(&go(&["--constant", "7=u32:1"]), &["no function constant 7"]);
    refused(
        &go(&["--constant", "0=u32:1"]),
        &["`bool negated` has 1 bytes, but 4 are given"],
    );
    refused(
        &go(&["--constant", "0=f32[2]"]),
        &["is no value of a constant"],
    );
    let twice = ["--constant", "0=bool:true", "--constant", "0=bool:true"];
    refused(&go(&twice), &["function constant 0 is given twice"]);
}

#[test]
fn what_goes_wrong_is_one_sentence_and_leaves_no_file() {
    let (_guard, folder) = folder();
    save(&folder.join("x.npy"), &[4], &[1.0f32; 4]);
    save(&folder.join("i.npy"), &[4], &[1i32; 4]);
    let whole = std::fs::read(folder.join("x.npy")).unwrap();
    std::fs::write(folder.join("short.npy"), &whole[..whole.len() - 3]).unwrap();
    let xy = |x: &'static str| ["--arg", x, "--arg", "1=f32[4]>y.npy"];
    let go = |kernel, arguments: &[&str]| run(&folder, kernel, "4", "4", arguments);
    refused(
        &go("out_of_bounds", &xy("0=@x.npy")),
        &[
            "out_of_bounds",
            "kernels.metal:63:12",
            "element 4 of 4 bytes",
            "`x`",
        ],
    );
    refused(
        &go("out_of_bounds", &["--arg", "0=@x.npy"]),
        &["argument `y` (buffer 1)"],
    );
    refused(
        &go("nonsense", &xy("0=@x.npy")),
        &["no kernel `nonsense`", "row_sums"],
    );
    refused(&go("out_of_bounds", &xy("0=@short.npy")), &["short.npy"]);
    refused(
        &go("out_of_bounds", &xy("0=@missing.npy")),
        &["missing.npy"],
    );
    refused(&go("out_of_bounds", &xy("0=f31[4]")), &["f31"]);
    refused(
        &go(
            "out_of_bounds",
            &["--arg", "0=@x.npy", "--arg", "1=f32[4]>no/y.npy"],
        ),
        &["no/y.npy"],
    );
    refused(&go("row_sums", &[]), &["row_sums"]);
    let files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|f| f.unwrap().file_name())
        .collect();
    assert_eq!(files.len(), 3, "{files:?}");
}

#[cfg(unix)]
#[test]
fn a_checked_run_names_both_sides_of_a_race_and_saves_nothing() {
    let (_guard, folder) = folder();
    let checked = |kernel: &str, argument: &str| {
        run(&folder, kernel, "32", "32", &["--arg", argument, "--check"])
    };
    let found = checked("races", "0=f32[32]>out.npy");
    let message = stderr(&found);
    assert_eq!(found.status.code(), Some(1), "{message}");
    let text = std::fs::read_to_string(KERNELS).unwrap();
    let line = |wanted: &str| 1 + text.lines().position(|l| l.contains(wanted)).unwrap();
    let (write, read) = (line("shared[i] = float(i)"), line("shared[(i + 1) % n]"));
    for expected in [
        "error: kernel `races` does what it must not".to_string(),
        format!("kernels.metal:{write}:"),
        format!("kernels.metal:{read}:"),
        "data race".to_string(),
    ] {
        assert!(
            message.contains(&expected),
            "`{message}` lacks `{expected}`"
        );
    }
    assert!(!folder.join("out.npy").exists());

    let clean = checked("counts", "0=u32[32]>out.npy");
    assert_eq!(clean.status.code(), Some(0), "{}", stderr(&clean));
    assert!(stderr(&clean).contains("checked: kernel `counts`"));
    let file = npyz::NpyFile::new(std::fs::File::open(folder.join("out.npy")).unwrap()).unwrap();
    assert_eq!(file.into_vec::<u32>().unwrap(), (0..32).collect::<Vec<_>>());
}

#[test]
fn ctrl_c_ends_an_endless_loop() {
    let (_guard, folder) = folder();
    let child = Command::new(env!("CARGO_BIN_EXE_mlx-native"))
        .args([
            "run",
            KERNELS,
            "--kernel",
            "endless",
            "--grid",
            "4",
            "--threadgroup",
            "4",
        ])
        .args(["--arg", "0=f32[4]>y.npy"])
        .current_dir(&folder)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Before its handler is set, the signal would end the process without a word.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    refused(&output, &["endless", "interrupted"]);
    assert!(!folder.join("y.npy").exists());
}

#[test]
fn wrong_usage_has_its_own_status() {
    let (_guard, folder) = folder();
    assert_eq!(mlx_native(&["run"], &folder).status.code(), Some(2));
    assert_eq!(
        mlx_native(&["train", "digits", "--epochs", "0"], &folder)
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn ops_and_devices_are_listed() {
    let (_guard, folder) = folder();
    let devices = mlx_native(&["devices"], &folder);
    assert!(stdout(&devices).contains("cpu: CPU"));
    let json = mlx_native(&["ops", "--json"], &folder);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let names: Vec<_> = json["ops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|op| op["name"].as_str())
        .collect();
    assert!(names.contains(&Some("log_softmax")) && names.contains(&Some("adam")));
    let text = stdout(&mlx_native(&["ops"], &folder));
    assert!(text.contains("dx = y * (dy - sum of dy * y)"));
}

#[test]
fn verify_says_what_it_has_proven() {
    let (_guard, folder) = folder();
    let output = mlx_native(&["verify", "relu", "nll", "--json"], &folder);
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["proven"], true);
    assert_eq!(json["ops"].as_array().unwrap().len(), 2);
    let text = stdout(&mlx_native(&["verify", "relu"], &folder));
    assert!(text.starts_with("proven relu") && text.contains("all 1 ops are proven on CPU"));
    refused(
        &mlx_native(&["verify", "nonsense"], &folder),
        &["no op `nonsense`"],
    );
    refused(
        &mlx_native(&["verify", "--device", "gpu"], &folder),
        &["`gpu` is no device"],
    );
}

#[test]
fn training_learns_and_leaves_its_files() {
    let (_guard, folder) = folder();
    for extra in [&[][..], &["--kernels-only"]] {
        let arguments = [&["train", "digits", "--epochs", "3", "--out", "a/b"], extra].concat();
        let output = mlx_native(&arguments, &folder);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = stdout(&output);
        let last = text
            .lines()
            .last()
            .unwrap()
            .strip_prefix("test accuracy: ")
            .unwrap();
        assert_eq!(last.len(), 6, "four places: {last}");
        assert!(last.parse::<f64>().unwrap() > 0.9, "{last}");
        assert_eq!(
            stderr(&output)
                .lines()
                .filter(|l| l.starts_with("epoch "))
                .count(),
            3
        );
    }
    let out = folder.join("a/b");
    let model = std::fs::read(out.join("model.safetensors")).unwrap();
    let model = safetensors::SafeTensors::deserialize(&model).unwrap();
    assert_eq!(model.tensor("layers.0.weight").unwrap().shape(), [64, 128]);
    let history = std::fs::read_to_string(out.join("history.csv")).unwrap();
    assert_eq!(history.lines().count(), 4);
    assert!(history.starts_with("epoch,train_loss,train_accuracy,test_loss,test_accuracy\n1,"));
    assert!(
        std::fs::read_to_string(out.join("loss.svg"))
            .unwrap()
            .starts_with("<svg")
    );
    let first = std::fs::read_to_string(out.join("history.csv")).unwrap();
    let again = ["train", "digits", "--epochs", "3", "--out", "again"];
    assert!(mlx_native(&again, &folder).status.success());
    assert_eq!(
        std::fs::read_to_string(folder.join("again/history.csv")).unwrap(),
        first
    );
    std::fs::write(folder.join("file"), "").unwrap();
    refused(
        &mlx_native(&["train", "digits", "--out", "file/x"], &folder),
        &["file/x"],
    );
}
