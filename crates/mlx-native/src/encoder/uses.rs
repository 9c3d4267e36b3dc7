//! Which buffers an encoder's uncommitted work reads and writes.
//!
//! From this come the barriers between dispatches, the marks on the buffers, and the names in
//! messages. Buffers are told apart by their memory: two that share it are one here.

use std::collections::HashMap;
use std::sync::Arc;

use super::KernelArgument;
use crate::buffer::Allocation;
use crate::error::{MlxError, Slot};
use crate::metal::DeviceRef;
use crate::pipeline::{Pipeline, Signature};

/// The uses since the last commit.
#[derive(Debug)]
pub(crate) struct Uses {
    encoder: u64,
    /// Whether buffers keep what went wrong, even if the encoder's owner was told: see
    /// [`CommandEncoder::for_stream`](super::CommandEncoder::for_stream).
    keeps_failures: bool,
    /// How many dispatches were noted.
    dispatches: usize,
    list: Vec<Use>,
    /// The place in `list` of each allocation.
    places: HashMap<u64, usize>,
    /// Counts barriers: what happened in an earlier epoch is ordered already.
    epoch: u64,
}

/// How one allocation is used.
#[derive(Debug)]
pub(crate) struct Use {
    pub allocation: Arc<Allocation>,
    /// The first use.
    pub first: Site,
    /// The first use that may write.
    pub first_write: Option<Site>,
    /// The last one, and the number of its dispatch.
    pub last_write: Option<(Site, usize)>,
    /// Whether any use reads. What a kernel may write it may also read, but only an argument that it
    /// cannot write counts as a plain read.
    pub reads: bool,
    /// Whether the first dispatch that uses it reads it through an argument it cannot write.
    pub reads_first: bool,
    read_epoch: Option<u64>,
    write_epoch: Option<u64>,
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    signature: Arc<Signature>,
    argument: usize,
}

impl Site {
    pub fn kernel(&self) -> &Arc<str> {
        &self.signature.kernel
    }

    pub fn argument(&self) -> &str {
        &self.signature.arguments[self.argument].name
    }

    pub fn slot(&self) -> Slot {
        self.signature.arguments[self.argument].slot
    }
}

impl Uses {
    pub fn new(encoder: u64, keeps_failures: bool) -> Self {
        Self {
            encoder,
            keeps_failures,
            dispatches: 0,
            list: Vec::new(),
            places: HashMap::new(),
            epoch: 0,
        }
    }

    pub fn encoder(&self) -> u64 {
        self.encoder
    }

    pub fn keeps_failures(&self) -> bool {
        self.keeps_failures
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Use> {
        self.list.iter()
    }

    /// Notes the buffers of a dispatch, and returns whether it depends on work since the last
    /// barrier.
    pub fn add<'a>(
        &mut self,
        device: &DeviceRef,
        pipeline: &Pipeline,
        arguments: impl Iterator<Item = (u64, KernelArgument<'a>)> + Clone,
    ) -> bool {
        let signature = pipeline.shared_signature();
        let sites = arguments.filter_map(|(index, bound)| {
            let KernelArgument::Buffer(buffer) = bound else {
                return None;
            };
            let allocation = buffer.allocation();
            let place = signature
                .arguments
                .iter()
                .position(|a| matches!(a.slot, Slot::Buffer(i) if u64::from(i) == index))?;
            (allocation.device.shared.id == device.shared.id).then_some((allocation, place))
        });
        let depends = sites.clone().any(|(allocation, place)| {
            let writes = signature.arguments[place].writable;
            self.places.get(&allocation.id).is_some_and(|&known| {
                let known = &self.list[known];
                known.write_epoch == Some(self.epoch)
                    || (writes && known.read_epoch == Some(self.epoch))
            })
        });
        if depends {
            self.epoch += 1;
        }
        let known_before = self.list.len();
        for (allocation, place) in sites {
            let site = Site {
                signature: Arc::clone(signature),
                argument: place,
            };
            self.note(allocation, site, known_before);
        }
        self.dispatches += 1;
        depends
    }

    /// Notes one buffer argument. Uses from `known_before` on belong to the same dispatch.
    fn note(&mut self, allocation: &Arc<Allocation>, site: Site, known_before: usize) {
        let writes = site.signature.arguments[site.argument].writable;
        let place = *self.places.entry(allocation.id).or_insert_with(|| {
            self.list.push(Use {
                allocation: Arc::clone(allocation),
                first: site.clone(),
                first_write: None,
                last_write: None,
                reads: false,
                reads_first: false,
                read_epoch: None,
                write_epoch: None,
            });
            self.list.len() - 1
        });
        let known = &mut self.list[place];
        let is_new_fact = known.read_epoch.or(known.write_epoch).is_none()
            || (writes && known.first_write.is_none());
        if is_new_fact {
            allocation
                .access()
                .record(self.encoder, site.kernel(), writes);
        }
        if writes {
            known.write_epoch = Some(self.epoch);
            known.last_write = Some((site.clone(), self.dispatches));
            known.first_write.get_or_insert(site);
        } else {
            known.read_epoch = Some(self.epoch);
            known.reads = true;
            known.reads_first |= place >= known_before;
        }
    }

    /// Starts anew after a commit, which has moved the marks on.
    pub fn clear(&mut self) {
        self.list.clear();
        self.places.clear();
        self.epoch = 0;
        self.dispatches = 0;
    }

    /// Starts anew after an error that the caller is told of.
    pub fn refuse(&mut self, error: &MlxError) {
        for used in &self.list {
            let mut access = used.allocation.access();
            access.forget(self.encoder);
            if let (true, Some((site, _))) = (self.keeps_failures, &used.last_write) {
                access.lose(MlxError::LostWork {
                    kernel: site.kernel().to_string(),
                    reason: format!("it was committed with work that was refused: {error}"),
                });
            }
        }
        self.clear();
    }

    /// The work will never run, and nobody is told.
    pub fn abandon(&mut self) {
        for used in &self.list {
            used.allocation.access().abandon(self.encoder);
        }
        self.clear();
    }
}
