import { describe, expect, it } from 'vitest'
import type { CoreV1Event } from '../../api/generated/types.ts'
import { isUserError, lastHappened } from './user-error.ts'

describe('isUserError() is', () => {
  it.each<[boolean, string, string?]>([
    [true, 'MountVolume.SetUp failed for volume "config" : configmap "settings" not found'],
    [true, 'MountVolume.SetUp failed for volume "keys" : secret "keys" not found'],
    [true, 'MountVolume.SetUp failed for volume "all" : [configmap "a" not found, secret "b" not found]'],
    [true, 'MountVolume.SetUp failed for volume "config" : configmap references non-existent config key: app.yaml'],
    [true, 'MountVolume.SetUp failed for volume "keys" : references non-existent secret key: tls.crt'],
    [false, 'MountVolume.SetUp failed for volume "data" : rpc error: code = DeadlineExceeded desc = context deadline exceeded'],
    [false, 'MountVolume.SetUp failed for volume "data" : volume "pv-1" not found'],
    [false, 'MountVolume.SetUp failed for volume "config" : failed to sync configmap cache: timed out waiting for the condition'],
    [false, 'MountVolume.SetUp failed for volume "keys" : object "default"/"keys" not registered'],
    [false, 'Unable to attach or mount volumes: unmounted volumes=[data]: timed out waiting for the condition'],
    [false, 'configmap "settings" not found', 'Failed'],
  ])('%s for %j', (expected, message, reason = 'FailedMount') => expect(isUserError({ reason, message } as CoreV1Event)).toBe(expected))
})

describe('lastHappened() is', () => {
  const times = { creationTimestamp: '2026-01-01T00:00:00Z', first: '2026-01-01T00:00:01Z', last: '2026-01-01T00:00:02Z', series: '2026-01-01T00:00:03.5Z' }
  it.each<[string, Partial<CoreV1Event>, string]>([
    ['the time of the series', { series: { lastObservedTime: times.series }, lastTimestamp: times.last }, times.series],
    ['the last time', { lastTimestamp: times.last, firstTimestamp: times.first }, times.last],
    ['the only time', { eventTime: times.first, lastTimestamp: null }, times.first],
    ['when it was made, for want of anything else', {}, times.creationTimestamp],
  ])('%s', (_, event, expected) => expect(lastHappened({ metadata: { creationTimestamp: times.creationTimestamp }, ...event } as CoreV1Event)).toBe(Date.parse(expected)))
})
