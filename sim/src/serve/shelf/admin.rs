//! What a drive does with the admin commands that reach it: Identify, logs, and its features.

use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::nvme::feature::{GET_FEATURES, PowerManagement, SET_FEATURES, identifier};
use wattline_core::nvme::log::{GET_LOG_PAGE, identifier as log_page};
use wattline_core::nvme::{Status, identify};

use super::{Admin, Answer, Shelf};
use crate::host;
use crate::serve::command::{Submission, for_good, status};
use crate::serve::features::{Changed, Selected};
use crate::serve::pages;

impl Shelf {
    /// Notes a command that was refused before it reached the drive, or by it.
    pub(in crate::serve) fn note_error(&mut self, slot: usize, queue: u16, submission: &Submission, status: Status) {
        let Some(bay) = self.bays.get_mut(slot) else { return };
        bay.counters.errors += 1;
        bay.errors.add(bay.counters.errors, queue, submission, status);
    }

    pub(super) fn execute(&mut self, slot: usize, admin: &Admin, found: usize) -> Answer {
        let submission = &admin.submission;
        let answer = match submission.opcode() {
            identify::IDENTIFY => self.identify(slot, submission, admin.controller),
            GET_LOG_PAGE => self.log(slot, submission),
            GET_FEATURES => self.get_feature(slot, submission, found),
            SET_FEATURES => self.set_feature(slot, submission, &admin.data),
            _ => Err(for_good(status::INVALID_OPCODE)),
        };
        answer.unwrap_or_else(Answer::refused)
    }

    fn identify(&self, slot: usize, submission: &Submission, controller: u16) -> Result<Answer, Status> {
        let bay = &self.bays[slot];
        let of_namespace = |page| match submission.namespace() {
            pages::NAMESPACE => Ok(page),
            _ => Err(for_good(status::INVALID_NAMESPACE)),
        };
        let page = match submission.dword(10) & 0xFF {
            0x00 => of_namespace(pages::namespace(self.blocks))?,
            0x01 => pages::controller(&bay.kind.identity, &format!("WATTLINE{slot:04}"), &bay.name, controller),
            0x02 if submission.namespace() >= 0xFFFF_FFFE => return Err(for_good(status::INVALID_NAMESPACE)),
            0x02 => pages::namespace_list(submission.namespace()),
            0x03 => of_namespace(pages::namespace_descriptors(slot))?,
            // Structures of the NVM command set, which has nothing to add.
            0x05 => of_namespace(pages::nothing())?,
            0x06 => pages::nothing(),
            _ => return Err(for_good(Status::INVALID_FIELD)),
        };
        Ok(Answer::data(page.to_vec()))
    }

    fn log(&self, slot: usize, submission: &Submission) -> Result<Answer, Status> {
        let bay = &self.bays[slot];
        let [identifier, ..] = submission.dword(10).to_le_bytes();
        let page = match identifier {
            0x01 => bay.errors.page(),
            log_page::SMART_HEALTH => pages::smart(&bay.counters, self.temperature(slot), bay.warns).to_vec(),
            0x05 => pages::effects(),
            _ => return Err(for_good(status::INVALID_LOG_PAGE)),
        };
        // NUMD in two halves, less one; LPO in bytes, a multiple of 4.
        let dwords = u64::from(submission.dword(10) >> 16 | (submission.dword(11) & 0xFFFF) << 16) + 1;
        let offset = submission.dwords(12);
        if !offset.is_multiple_of(4) || offset > page.len() as u64 {
            return Err(for_good(Status::INVALID_FIELD));
        }
        let from = usize::try_from(offset).unwrap_or(page.len());
        let length = u32::try_from(dwords * 4).unwrap_or(u32::MAX).min(pages::MAX_TRANSFER_BYTES);
        let mut data = page.get(from..).unwrap_or_default().to_vec();
        data.resize(usize::try_from(length).unwrap_or(0), 0);
        Ok(Answer::data(data))
    }

    fn get_feature(&self, slot: usize, submission: &Submission, found: usize) -> Result<Answer, Status> {
        let [feature, ..] = submission.dword(10).to_le_bytes();
        let selected = Selected::of(submission.dword(10)).ok_or(for_good(Status::INVALID_FIELD))?;
        let (mut result, data) = self.bays[slot].features.get(feature, selected, submission.dword(11))?;
        if feature == identifier::POWER_MANAGEMENT && selected == Selected::Current {
            let value = PowerManagement { power_state: host::power_state(found), ..PowerManagement::decode(result) };
            result = value.encode();
        }
        Ok(Answer { status: Status::SUCCESS, result, data })
    }

    fn set_feature(&mut self, slot: usize, submission: &Submission, data: &[u8]) -> Result<Answer, Status> {
        let dword_10 = submission.dword(10);
        let [feature, ..] = dword_10.to_le_bytes();
        if !matches!(submission.namespace(), 0 | u32::MAX) {
            return Err(for_good(Status::FEATURE_NOT_NAMESPACE_SPECIFIC));
        }
        let save = dword_10 >> 31 != 0;
        match self.bays[slot].features.set(feature, save, submission.dword(11), data)? {
            Changed::Power { state, save } => {
                let kind = &self.bays[slot].kind;
                let (sleeps, fallback) = (kind.sleeps(state), kind.operational_of(state));
                let drive = self.chassis.drive_mut(slot);
                if sleeps {
                    drive.sleep(self.now, state);
                } else {
                    drive.enter(self.now, state);
                }
                if save {
                    drive.set_fallback(fallback);
                }
                self.manage_heat(slot);
                self.moved = true;
            }
            Changed::Idle => {
                let table = self.bays[slot].features.transitions().unwrap_or(Table::EMPTY);
                self.chassis.drive_mut(slot).set_table(self.now, table);
                self.moved = true;
            }
            Changed::Temperatures => {
                self.manage_heat(slot);
                self.watch_temperature(slot);
            }
        }
        Ok(Answer::data(Vec::new()))
    }
}

/// Whether a command sets or reads the power state, which is what faults meet.
pub(super) fn is_power_management(submission: &Submission) -> bool {
    let is_feature = matches!(submission.opcode(), SET_FEATURES | GET_FEATURES);
    is_feature && submission.dword(10) & 0xFF == u32::from(identifier::POWER_MANAGEMENT)
}

/// The state that a command sets.
pub(super) fn target(submission: &Submission) -> Option<usize> {
    let sets = submission.opcode() == SET_FEATURES && is_power_management(submission);
    sets.then(|| PowerManagement::decode(submission.dword(11)).power_state.index())
}
