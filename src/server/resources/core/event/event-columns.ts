import { describeField } from '../../../../api/schema/descriptions.ts'
import type { CoreV1Event } from '../../../../api/generated/types.ts'
import { ageOf } from '../../../../api/printing/duration.ts'
import { nameColumn } from '../../../answers/columns.ts'
import type { Column } from '../../../registry/resource.ts'

const firstSeen = (event: CoreV1Event) => event.firstTimestamp ?? event.eventTime
const lastSeen = (event: CoreV1Event) =>
  event.series ? event.series.lastObservedTime : (event.lastTimestamp ?? firstSeen(event))

function objectText({ involvedObject }: CoreV1Event): string {
  const kind = (involvedObject?.kind ?? '').toLowerCase()
  return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind
}

function sourceText({ source, reportingComponent, reportingInstance }: CoreV1Event): string {
  const component = source?.component || reportingComponent || ''
  const instance = source?.host || reportingInstance || ''
  return instance ? `${component}, ${instance}` : component
}

/** The columns of events in both groups. */
export const eventColumns: readonly Column<CoreV1Event>[] = [
  {
    name: 'Last Seen',
    type: 'string',
    description: () => describeField('CoreV1Event', 'lastTimestamp'),
    cell: (event, now) => ageOf(lastSeen(event), now),
  },
  {
    name: 'Type',
    type: 'string',
    description: () => describeField('CoreV1Event', 'type'),
    cell: (event) => event.type ?? '',
  },
  {
    name: 'Reason',
    type: 'string',
    description: () => describeField('CoreV1Event', 'reason'),
    cell: (event) => event.reason ?? '',
  },
  { name: 'Object', type: 'string', description: 'The object that this event is about.', cell: objectText },
  {
    name: 'Subobject',
    type: 'string',
    priority: 1,
    description: () => describeField('ObjectReference', 'fieldPath'),
    cell: (event) => event.involvedObject?.fieldPath ?? '',
  },
  {
    name: 'Source',
    type: 'string',
    priority: 1,
    description: 'The component reporting this event. Should be a short machine understandable string.',
    cell: sourceText,
  },
  {
    name: 'Message',
    type: 'string',
    description: () => describeField('CoreV1Event', 'message'),
    cell: (event) => (event.message ?? '').trim(),
  },
  {
    name: 'First Seen',
    type: 'string',
    priority: 1,
    description: () => describeField('CoreV1Event', 'firstTimestamp'),
    cell: (event, now) => ageOf(firstSeen(event), now),
  },
  {
    name: 'Count',
    type: 'string',
    priority: 1,
    description: () => describeField('CoreV1Event', 'count'),
    cell: (event) => (event.series ? (event.series.count ?? 0) : event.count || 1),
  },
  { ...nameColumn<CoreV1Event>(), priority: 1 },
]
