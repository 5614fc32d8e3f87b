import { kindNames } from '../../../../api/kind-names.ts'
import type { CoreV1Event, ObjectReference } from '../../../../api/generated/types.ts'
import type { KubeObject } from '../../../../api/object.ts'
import { pathSegmentName } from '../../../../api/validation/names.ts'
import { defineResource } from '../../../registry/resource.ts'
import { eventColumns } from './event-columns.ts'
import { validateEvent } from './event-validation.ts'

const referenceParts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const

const about = (field: keyof ObjectReference) => (event: CoreV1Event) => event.involvedObject?.[field] ?? ''

/** The selectable fields of an event's object reference, whose field name differs between the groups. */
export const referenceFields = (name: string): Record<string, (event: CoreV1Event) => string> =>
  Object.fromEntries(referenceParts.map((field) => [`${name}.${field}`, about(field)]))

/** The default of --event-ttl in Kubernetes: an hour. */
const usualTtlMs = 3_600_000

/** The timestamps of writes that an event contains. */
function writtenAt(object: KubeObject): (string | null | undefined)[] {
  const event = object as CoreV1Event
  return [event.lastTimestamp, event.series?.lastObservedTime, event.eventTime, event.metadata.creationTimestamp]
}

/** core/v1 Events. */
export const events = defineResource<CoreV1Event>({
  ...kindNames.events,
  type: 'CoreV1Event',
  nameRule: pathSegmentName,
  validate: validateEvent,
  validateUpdate: validateEvent,
  allowCreateOnUpdate: true,
  timeToLive: { ms: usualTtlMs, lastWritten: writtenAt },
  selectableFields: {
    ...referenceFields('involvedObject'),
    reason: (event) => event.reason ?? '',
    reportingComponent: (event) => event.reportingComponent ?? '',
    source: (event) => event.source?.component || event.reportingComponent || '',
    type: (event) => event.type ?? '',
  },
  columns: eventColumns,
})
