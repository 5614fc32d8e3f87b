import { tooManyRequests } from '../../api/errors.ts'
import type { CoreV1Event } from '../../api/generated/types.ts'
import { type FieldError, invalid, notSupported } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isFor } from './refusal.ts'

const limitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const
type LimitType = (typeof limitTypes)[number]

export interface EventLimit {
  type: LimitType
  /** Events a second in the long run, and how many at once. */
  qps: number
  burst: number
  /** How many namespaces, users or objects are told apart; those that were quiet for longest are forgotten. */
  cacheSize?: number
}

const usualCacheSize = 4096

const wrongUnless = (isFine: boolean, error: FieldError): FieldError[] => (isFine ? [] : [error])

/** All that is wrong with limits of a file. */
export function limitErrors(limits: readonly Partial<EventLimit>[]): FieldError[] {
  const path = Path.of('limits')
  if (limits.length === 0) return [invalid(path, limits, 'must not be empty')]
  return limits.flatMap(({ type, qps = 0, burst = 0, cacheSize = 0 }, i) => [
    ...wrongUnless(
      limitTypes.includes(type as LimitType), notSupported(path.index(i).child('type'), type ?? '', limitTypes),
    ),
    ...wrongUnless(burst > 0, invalid(path.index(i).child('burst'), burst, 'must be positive')),
    ...wrongUnless(qps > 0, invalid(path.index(i).child('qps'), qps, 'must be positive')),
    ...wrongUnless(
      type === 'Server' || cacheSize >= 0, invalid(path.index(i).child('cacheSize'), cacheSize, 'must not be negative'),
    ),
  ])
}

const keyOf: Record<LimitType, (request: AdmissionRequest) => string> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject({ object }) {
    const { source = {}, involvedObject = {} } = object as CoreV1Event
    const { kind = '', namespace = '', name = '', uid = '', apiVersion = '' } = involvedObject
    return [source.component ?? '', source.host ?? '', kind, namespace, name, uid, apiVersion].join('')
  },
}

/** What is left of a key's burst, and when that was. */
interface Bucket {
  tokens: number
  atMs: number
}

/** Answers a function that says whether one more event of a key fits. */
function limiter({ qps, burst, cacheSize }: EventLimit): (key: string, nowMs: number) => boolean {
  const buckets = new Map<string, Bucket>()
  const size = cacheSize || usualCacheSize
  return (key, nowMs) => {
    const { tokens, atMs } = buckets.get(key) ?? { tokens: burst, atMs: nowMs }
    const filled = Math.min(burst, tokens + (Math.max(0, nowMs - atMs) / 1000) * qps)
    const fits = filled >= 1
    buckets.delete(key)
    buckets.set(key, { tokens: fits ? filled - 1 : filled, atMs: nowMs })
    if (buckets.size > size) buckets.delete(buckets.keys().next().value!)
    return fits
  }
}

/** Refuses events that come too fast, of the whole server or of one namespace, user or object. */
export function eventRateLimit(limits: readonly EventLimit[]): AdmissionPlugin {
  const rules = limits.map((limit) => ({ type: limit.type, fits: limiter(limit) }))
  return {
    name: 'EventRateLimit',
    validate(request) {
      const { object, operation, now } = request
      const isWrite = operation === 'CREATE' || operation === 'UPDATE'
      if (!isWrite || !object || !isFor(request, '', 'events') || request.isRepeated) return
      let refused: string | undefined
      for (const { type, fits } of rules) {
        const key = keyOf[type](request)
        if (!fits(key, now)) refused = `limit reached on type ${type} for key ${key}`
      }
      if (refused !== undefined) throw tooManyRequests(refused, 0)
    },
  }
}
