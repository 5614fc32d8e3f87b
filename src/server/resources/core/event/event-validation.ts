import type { CoreV1Event } from '../../../../api/generated/types.ts'
import { semanticEqual } from '../../../../api/deep-equal.ts'
import { immutableMessage } from '../../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../../api/validation/field-error.ts'
import { byteLength, isQualifiedName } from '../../../../api/validation/names.ts'
import { Path } from '../../../../api/validation/path.ts'

function validateLength(text: string | undefined, field: string, max: number): FieldError[] {
  return byteLength(text ?? '') > max ? [invalid(Path.of(field), '', `can have at most ${max} characters`)] : []
}

/** Validates an event. Stricter rules apply to one with an eventTime. */
export function validateEvent(event: CoreV1Event): FieldError[] {
  const about = event.involvedObject?.namespace ?? ''
  const own = event.metadata.namespace ?? ''
  const elsewhere = () => [invalid(Path.of('involvedObject', 'namespace'), about, 'does not match event.namespace')]
  if (!event.eventTime) {
    const isFine = about === '' ? own === '' || own === 'default' : about === own
    return isFine ? [] : elsewhere()
  }
  const controller = event.reportingComponent ?? ''
  const errors: FieldError[] = []
  if (about === '' && own !== 'default' && own !== 'kube-system') errors.push(...elsewhere())
  if (controller === '') errors.push(required(Path.of('reportingController')))
  errors.push(...isQualifiedName(controller).map((p) => invalid(Path.of('reportingController'), controller, p)))
  if (!event.reportingInstance) errors.push(required(Path.of('reportingInstance')))
  errors.push(...validateLength(event.reportingInstance, 'reportingInstance', 128))
  if (!event.action) errors.push(required(Path.of('action')))
  errors.push(...validateLength(event.action, 'action', 128))
  if (!event.reason) errors.push(required(Path.of('reason')))
  errors.push(...validateLength(event.reason, 'reason', 128))
  errors.push(...validateLength(event.message, 'message', 1024))
  return errors
}

function validateSeries({ series }: CoreV1Event): FieldError[] {
  const errors: FieldError[] = []
  if (!series) return errors
  if ((series.count ?? 0) < 2) errors.push(invalid(Path.of('series.count'), '', 'should be at least 2'))
  if (!series.lastObservedTime) errors.push(required(Path.of('series.lastObservedTime')))
  return errors
}

/** The additional rules of events.k8s.io. */
export function validateNewEvent(event: CoreV1Event): FieldError[] {
  const errors = [...validateEvent(event), ...validateSeries(event)]
  const unset = (field: string) => invalid(Path.of(field), '', 'needs to be unset')
  if (!event.eventTime) errors.push(required(Path.of('eventTime')))
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    errors.push(invalid(Path.of('type'), '', `has invalid value: ${event.type ?? ''}`))
  }
  if (event.firstTimestamp) errors.push(unset('firstTimestamp'))
  if (event.lastTimestamp) errors.push(unset('lastTimestamp'))
  if (event.count) errors.push(unset('count'))
  if (event.source?.component || event.source?.host) errors.push(unset('source'))
  return errors
}

const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
] as const

/** events.k8s.io allows only changes of the series. */
export function validateNewEventUpdate(event: CoreV1Event, old: CoreV1Event): FieldError[] {
  const errors = validateEvent(event)
  if (!semanticEqual(event.series, old.series)) errors.push(...validateSeries(event))
  for (const field of fixedFields) {
    const name = field === 'reportingController' ? 'reportingComponent' : field
    if (!semanticEqual(event[name] ?? '', old[name] ?? ''))
      errors.push(invalid(Path.of(field), event[name] ?? null, immutableMessage))
  }
  return errors
}
