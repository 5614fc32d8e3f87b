import { kindNames } from '../../../api/kind-names.ts'
import type { CoreV1Event, EventsV1Event } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { eventColumns } from '../core/event/event-columns.ts'
import { validateNewEvent, validateNewEventUpdate } from '../core/event/event-validation.ts'
import { referenceFields } from '../core/event/events.ts'

/** Converts to the core group's field names, the stored form. */
export function toCoreEvent(event: EventsV1Event): CoreV1Event {
  const {
    regarding,
    note,
    reportingController,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    ...same
  } = event
  return {
    ...same,
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: regarding ?? {},
    message: note || undefined,
    reportingComponent: reportingController ?? '',
    reportingInstance: same.reportingInstance ?? '',
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount || undefined,
  } as CoreV1Event
}

/** Converts to the field names of events.k8s.io. */
export function fromCoreEvent(event: CoreV1Event): EventsV1Event {
  const { involvedObject, message, reportingComponent, source, firstTimestamp, lastTimestamp, count, ...same } = event
  return {
    ...same,
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    regarding: involvedObject ?? {},
    note: message || undefined,
    reportingController: reportingComponent || undefined,
    reportingInstance: same.reportingInstance || undefined,
    deprecatedSource: source ?? {},
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count || undefined,
  } as EventsV1Event
}

const onCore =
  <R>(read: (event: CoreV1Event) => R) =>
  (event: EventsV1Event): R =>
    read(toCoreEvent(event))

const selectors = Object.entries({
  ...referenceFields('regarding'),
  reason: (event: CoreV1Event) => event.reason ?? '',
  reportingController: (event: CoreV1Event) => event.reportingComponent ?? '',
  type: (event: CoreV1Event) => event.type ?? '',
})

/** Events of events.k8s.io: the objects of the core group with stricter rules. */
export const events = defineResource<EventsV1Event>({
  ...kindNames.eventsV1,
  type: 'EventsV1Event',
  nameRule: subdomainName,
  validate: onCore(validateNewEvent),
  validateUpdate: (event, old) => validateNewEventUpdate(toCoreEvent(event), toCoreEvent(old)),
  allowCreateOnUpdate: true,
  selectableFields: Object.fromEntries(selectors.map(([name, read]) => [name, onCore(read)])),
  columns: eventColumns.map((column): Column<EventsV1Event> => ({
    ...column,
    cell: (event, now) => column.cell(toCoreEvent(event), now),
  })),
  storedAs: {
    ...kindNames.events,
    toStored: (event) => toCoreEvent(event),
    fromStored: (event: KubeObject) => fromCoreEvent(event as CoreV1Event),
  },
})
