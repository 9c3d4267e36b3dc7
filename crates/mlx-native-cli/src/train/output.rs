//! What a training run leaves behind.

use std::collections::HashMap;
use std::path::Path;

use plotters::prelude::*;
use safetensors::tensor::{Dtype, TensorView};

use super::Epoch;
use super::network::Named;
use crate::files;

const MODEL: &str = "model.safetensors";

/// Makes the folder, so that a wrong one is known before the work and not after it.
pub fn prepare(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;
    files::check(&folder.join(MODEL))
}

/// Writes the model, the figures of each epoch, and a picture of the losses.
pub fn write(folder: &Path, tensors: &[Named], history: &[Epoch], seed: u64) -> Result<(), String> {
    files::write(&[
        (folder.join(MODEL), model(tensors, seed)?),
        (folder.join("history.csv"), table(history)?),
        (folder.join("loss.svg"), picture(history)?.into_bytes()),
    ])
}

fn model(tensors: &[Named], seed: u64) -> Result<Vec<u8>, String> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|t| t.numbers.iter().flat_map(|n| n.to_le_bytes()).collect())
        .collect();
    let mut views = Vec::new();
    for (tensor, bytes) in tensors.iter().zip(&bytes) {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)
            .map_err(|error| format!("cannot store {}: {error}", tensor.name))?;
        views.push((&tensor.name, view));
    }
    let about = HashMap::from([
        ("task".to_string(), "digits".to_string()),
        ("seed".to_string(), seed.to_string()),
        ("input".to_string(), "64 pixels from 0 to 1".to_string()),
    ]);
    safetensors::serialize(views, Some(about))
        .map_err(|error| format!("cannot store the model: {error}"))
}

fn table(history: &[Epoch]) -> Result<Vec<u8>, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = [
        "epoch",
        "train_loss",
        "train_accuracy",
        "test_loss",
        "test_accuracy",
    ];
    let mut result = writer.write_record(header);
    for epoch in history {
        let scores = [epoch.train, epoch.test];
        let mut row = vec![epoch.number.to_string()];
        row.extend(
            scores
                .iter()
                .flat_map(|s| [s.loss, s.accuracy])
                .map(|v| format!("{v:.6}")),
        );
        result = result.and_then(|()| writer.write_record(&row));
    }
    result.map_err(|error| format!("cannot make history.csv: {error}"))?;
    writer
        .into_inner()
        .map_err(|error| format!("cannot make history.csv: {error}"))
}

fn picture(history: &[Epoch]) -> Result<String, String> {
    let mut svg = String::new();
    draw(&mut svg, history).map_err(|error| format!("cannot draw loss.svg: {error}"))?;
    Ok(svg)
}

fn draw(svg: &mut String, history: &[Epoch]) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, (720, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let losses = history.iter().flat_map(|e| [e.train.loss, e.test.loss]);
    let highest = losses.filter(|l| l.is_finite()).fold(0.1, f64::max);
    let epochs = history.len().max(2) as f64;
    let mut chart = ChartBuilder::on(&area)
        .caption("Loss of each epoch", ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(1.0..epochs, 0.0..highest * 1.05)?;
    chart
        .configure_mesh()
        .x_desc("epoch")
        .y_desc("loss")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .draw()?;
    type Loss = fn(&Epoch) -> f64;
    let lines: [(&str, RGBColor, Loss); 2] = [
        ("training", RGBColor(31, 119, 180), |e| e.train.loss),
        ("held out", RGBColor(214, 39, 40), |e| e.test.loss),
    ];
    for (name, color, loss) in lines {
        let points = history.iter().map(|e| (f64::from(e.number), loss(e)));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
