import type { CoreV1Event } from '../../api/generated/types.ts'

/** Which events are followed. */
export const mountFailures = 'involvedObject.kind=Pod,reason=FailedMount'

const missing = /\b(?:configmaps?|secrets?) "[^"]*" not found|references non-existent (?:config|secret) key/i

/** Whether an event says that a config map or secret is missing, or a key of one: its pod's owner has to provide it. */
export const isUserError = ({ reason, message = '' }: CoreV1Event): boolean => reason === 'FailedMount' && missing.test(message)

/** When what an event tells of last happened. */
export function lastHappened({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: CoreV1Event): number {
  const text = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp
  return text ? Date.parse(text) : 0
}
