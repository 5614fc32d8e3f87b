import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '../../generated/types.ts'
import { validatePortNumOrName } from '../../numbers/int-or-string.ts'
import type { Int64 } from '../../numbers/int64.ts'
import { nonnegativeMessage } from '../../validation/field-checks.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import { regexMessage } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'

type Handler = Pick<Probe, 'grpc'> & LifecycleHandler
type HandlerKind = keyof Handler

const schemes = ['HTTP', 'HTTPS']
const headerName = /^[-A-Za-z0-9]+$/
const headerNameMessage = regexMessage(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  '[-A-Za-z0-9]+',
  'X-Header-Name',
)

/** In Kubernetes' order: if two handlers are set, the later one is reported. */
const handlerKinds: readonly HandlerKind[] = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep']

function validateHttpGet(action: HTTPGetAction, path: Path, errors: FieldError[]): void {
  if (!action.path) errors.push(required(path.child('path')))
  for (const error of validatePortNumOrName(action.port ?? 0, path.child('port'))) errors.push(error)
  if (!schemes.includes(action.scheme ?? ''))
    errors.push(notSupported(path.child('scheme'), action.scheme ?? '', schemes))
  for (const header of action.httpHeaders ?? []) {
    if (!headerName.test(header.name ?? ''))
      errors.push(invalid(path.child('httpHeaders'), header.name ?? '', headerNameMessage))
  }
}

function validateAction(
  kind: HandlerKind,
  handler: Handler,
  gracePeriod: Int64 | undefined,
  path: Path,
  errors: FieldError[],
): void {
  if (kind === 'exec') {
    if (!handler.exec!.command?.length) errors.push(required(path.child('command')))
  } else if (kind === 'httpGet') {
    validateHttpGet(handler.httpGet!, path, errors)
  } else if (kind === 'sleep') {
    const { seconds } = handler.sleep!
    if (gracePeriod !== undefined && (seconds < 0 || seconds > gracePeriod)) {
      errors.push(
        invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`),
      )
    }
  } else {
    for (const error of validatePortNumOrName(handler[kind]!.port ?? 0, path.child('port'))) errors.push(error)
  }
}

function validateHandler(handler: Handler, gracePeriod: Int64 | undefined, path: Path, errors: FieldError[]): void {
  let found = false
  for (const kind of handlerKinds) {
    if (handler[kind] === undefined) continue
    if (found) errors.push(forbidden(path.child(kind), 'may not specify more than 1 handler type'))
    else validateAction(kind, handler, gracePeriod, path.child(kind), errors)
    found = true
  }
  if (!found) errors.push(required(path, 'must specify a handler type'))
}

const numbers = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const

function validateProbe(probe: Probe, path: Path, errors: FieldError[]): void {
  validateHandler(probe, undefined, path, errors)
  for (const name of numbers) {
    const value = probe[name]
    if (value !== undefined && value < 0) errors.push(invalid(path.child(name), value, nonnegativeMessage))
  }
  if (probe.terminationGracePeriodSeconds !== undefined && probe.terminationGracePeriodSeconds <= 0) {
    errors.push(
      invalid(
        path.child('terminationGracePeriodSeconds'),
        probe.terminationGracePeriodSeconds,
        'must be greater than 0',
      ),
    )
  }
}

interface Probes {
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
}

/** Validates the probes of a container. Liveness and startup probes require successThreshold 1. */
export function validateProbes(container: Probes, path: Path, errors: FieldError[]): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = container[name]
    if (!probe) continue
    const at = path.child(name)
    validateProbe(probe, at, errors)
    if (name === 'readinessProbe') {
      if (probe.terminationGracePeriodSeconds !== undefined) {
        errors.push(
          invalid(
            at.child('terminationGracePeriodSeconds'),
            probe.terminationGracePeriodSeconds,
            'must not be set for readinessProbes',
          ),
        )
      }
    } else if (probe.successThreshold !== 1) {
      errors.push(invalid(at.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1'))
    }
  }
}

/** Validates the lifecycle hooks of a container. */
export function validateLifecycle(
  lifecycle: Lifecycle,
  gracePeriod: Int64 | undefined,
  path: Path,
  errors: FieldError[],
): void {
  if (lifecycle.postStart) validateHandler(lifecycle.postStart, gracePeriod, path.child('postStart'), errors)
  if (lifecycle.preStop) validateHandler(lifecycle.preStop, gracePeriod, path.child('preStop'), errors)
}
