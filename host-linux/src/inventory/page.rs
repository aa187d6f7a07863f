//! The Identify Controller page itself, as `nvme id-ctrl --raw-binary` writes it.

use wattline_core::nvme::IdentifyController;

use super::{Inventory, InventoryError, vendor};

/// Reads a page.
pub(super) fn read(bytes: &[u8]) -> Result<Inventory, InventoryError> {
    let page = bytes.try_into().map_err(|_| InventoryError::PageLength { bytes: bytes.len() })?;
    Inventory::from(&IdentifyController::decode(page)?).not_blank()
}

impl From<&IdentifyController> for Inventory {
    fn from(controller: &IdentifyController) -> Self {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self {
            vendor: vendor(controller.vendor),
            subsystem_vendor: vendor(controller.subsystem_vendor),
            model: text(controller.model.as_str()),
            firmware: text(controller.firmware.as_str()),
            apst_supported: Some(controller.apst_supported),
            warning_temperature: controller.warning_temperature,
            critical_temperature: controller.critical_temperature,
            hctm_supported: Some(controller.hctm_supported),
            min_thermal_management_temperature: controller.min_thermal_management_temperature,
            max_thermal_management_temperature: controller.max_thermal_management_temperature,
            rtd3_resume_latency: controller.rtd3_resume_latency,
            rtd3_entry_latency: controller.rtd3_entry_latency,
            power_states: controller.power_states.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_another_length_says_how_many_bytes_came() {
        for length in [1, 512, 4095, 4097, 8192] {
            let error = read(&vec![0; length]).unwrap_err();
            assert!(matches!(error, InventoryError::PageLength { bytes } if bytes == length), "{error}");
            assert!(error.to_string().contains("4096") && error.to_string().contains(&length.to_string()));
        }
    }

    #[test]
    fn more_than_32_power_states_are_refused() {
        let mut page = vec![0; 4096];
        page[263] = 32;
        let error = read(&page).unwrap_err();
        assert!(error.to_string().starts_with("NPSS is 32"), "{error}");
    }
}
