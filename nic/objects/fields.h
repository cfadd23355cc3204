// SPDX-License-Identifier: Apache-2.0
// nic/objects/fields.h - the tables of the fields of NICs, queue pairs and completion queues.
#ifndef NIC_OBJECTS_FIELDS_H
#define NIC_OBJECTS_FIELDS_H

#include "kernel/fields.h"

extern const sim_fields_t nic__counter_fields; // of nic_counters_t: nic_counter_infos
extern const sim_fields_t nic__nic_fields;
extern const sim_fields_t nic__qp_fields;         // between messages
extern const sim_fields_t nic__qp_fields_at_work; // within messages
extern const sim_fields_t nic__cq_fields;

#endif // NIC_OBJECTS_FIELDS_H
