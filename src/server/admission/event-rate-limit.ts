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
  /** Average rate in events a second, and burst. */
  qps: number
  burst: number
  /** The number of namespaces, users or objects tracked. The least recently used are evicted. */
  cacheSize?: number
}

const usualCacheSize = 4096

const wrongUnless = (isFine: boolean, error: FieldError): FieldError[] => (isFine ? [] : [error])

/** The validation errors of configured limits. */
export function limitErrors(limits: readonly Partial<EventLimit>[]): FieldError[] {
  const path = Path.of('limits')
  if (limits.length === 0) return [invalid(path, limits, 'must not be empty')]
  return limits.flatMap(({ type, qps = 0, burst = 0, cacheSize = 0 }, i) => [
    ...wrongUnless(
      limitTypes.includes(type as LimitType),
      notSupported(path.index(i).child('type'), type ?? '', limitTypes),
    ),
    ...wrongUnless(burst > 0, invalid(path.index(i).child('burst'), burst, 'must be positive')),
    ...wrongUnless(qps > 0, invalid(path.index(i).child('qps'), qps, 'must be positive')),
    ...wrongUnless(
      type === 'Server' || cacheSize >= 0,
      invalid(path.index(i).child('cacheSize'), cacheSize, 'must not be negative'),
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

/** The remaining burst of a key, and the time of that count. */
interface Bucket {
  tokens: number
  atMs: number
}

/** Returns a function that takes a token of the key's bucket, and returns false if it is empty. */
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

/** Rejects events beyond the rate limits of the server, or of a namespace, user or object. */
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
