//! `mlx-native ops` and `mlx-native verify`.

use std::process::ExitCode;

use mlx_native::verify::Report;
use mlx_native::{MlxDevice, Stream, ops, verify};
use serde_json::json;

/// Lists the ops.
pub fn list(as_json: bool) -> ExitCode {
    if as_json {
        let ops: Vec<_> = ops::table()
            .map(|op| {
                json!({
                    "name": op.name,
                    "dtypes": op.dtypes().iter().map(|d| d.name()).collect::<Vec<_>>(),
                    "formula": op.formula,
                    "gradient": op.gradient,
                    "kernels": op.kernels,
                })
            })
            .collect();
        println!("{}", json!({ "ops": ops }));
        return ExitCode::SUCCESS;
    }
    for op in ops::table() {
        let dtypes: Vec<_> = op.dtypes().iter().map(|d| d.name()).collect();
        println!("{} ({})", op.name, dtypes.join(", "));
        println!("  {}", op.formula);
        println!("  {}", op.gradient.unwrap_or("no gradient"));
        println!("  kernels: {}", op.kernels.join(", "));
    }
    ExitCode::SUCCESS
}

/// Proves ops; exit status 1 if one is wrong.
pub fn verify(names: &[String], device: &MlxDevice, as_json: bool) -> Result<ExitCode, String> {
    let stream = Stream::new(device).map_err(|error| error.to_string())?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let show = |report: &Report| {
        if !as_json {
            println!("{}", line(report));
            for failure in &report.failures {
                println!("    {failure}");
            }
        }
    };
    let reports = verify::verify(&stream, &names, 0, show).map_err(|error| error.to_string())?;
    let wrong: Vec<_> = reports
        .iter()
        .filter(|r| !r.is_proven())
        .map(|r| r.op)
        .collect();
    if as_json {
        let ops: Vec<_> = reports.iter().map(document).collect();
        println!(
            "{}",
            json!({ "device": device.name(), "proven": wrong.is_empty(), "ops": ops })
        );
    }
    if wrong.is_empty() {
        if !as_json {
            println!("all {} ops are proven on {}", reports.len(), device.name());
        }
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!(
        "{} of {} ops are wrong on {}: {}",
        wrong.len(),
        reports.len(),
        device.name(),
        wrong.join(", ")
    ))
}

fn line(report: &Report) -> String {
    let verdict = if report.is_proven() {
        "proven"
    } else {
        "WRONG"
    };
    let backward = report.backward_error.map_or("no gradient".into(), |error| {
        format!("backward {error:.2} ulp")
    });
    format!(
        "{verdict} {:<12} {:>4} comparisons, {:>5} controls; worst: forward {:.2} ulp, {backward}",
        report.op, report.comparisons, report.controls, report.forward_error,
    )
}

fn document(report: &Report) -> serde_json::Value {
    json!({
        "name": report.op,
        "proven": report.is_proven(),
        "comparisons": report.comparisons,
        "controls": report.controls,
        "forward_ulp": report.forward_error,
        "backward_ulp": report.backward_error,
        "failures": report.failures,
    })
}
