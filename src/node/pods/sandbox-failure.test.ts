import { describe, expect, it } from 'vitest'
import type { Volume } from '../../api/generated/types.ts'
import { TransportError } from '../../client/index.ts'
import { RuntimeError, SandboxNetworkError } from '../runtime/runtime.ts'
import { samplePod } from '../sample-pod.ts'
import { StageError } from '../stages.ts'
import { MountError } from '../volumes/mount-error.ts'
import { mountFailureOf, sandboxFailureOf } from './sandbox-failure.ts'

const id = '4f9d3c3a1b2c4d5e8f90a1b2c3d4e5f6'
const uid = '4f9d3c3a-1b2c-4d5e-8f90-a1b2c3d4e5f6'

describe('sandboxFailureOf()', () => {
  it.each<[string, unknown, string]>([
    ['the network stage of a fault plan', new StageError('network', 'no'), 'NetworkNotReady no'],
    ['the sandbox stage of a fault plan', new StageError('sandbox', 'no'), 'SandboxCreateFailed no'],
    ['an address or port that cannot be had', new SandboxNetworkError('no'), 'NetworkNotReady no'],
    ['a runtime', new RuntimeError('Unavailable', 'no'), 'SandboxCreateFailed no'],
    [
      'a runtime that names the sandbox of this attempt', new Error(`ENOSPC: open '/run/${uid}/${id}/record.json'`),
      `SandboxCreateFailed ENOSPC: open '/run/${uid}/ID/record.json'`,
    ],
    ['something that is no error', 'no', 'SandboxCreateFailed no'],
  ])('tells of %s', (_, error, expected) => {
    const [reason, ...words] = expected.split(' ')
    expect(sandboxFailureOf(error)).toEqual({ reason, message: `Failed to create pod sandbox: ${words.join(' ')}` })
  })
})

describe('mountFailureOf()', () => {
  const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'c' } }
  const empty: Volume = { name: 'empty', emptyDir: {} }
  const failed = 'MountVolume.SetUp failed for volume'
  const unable = 'Unable to attach or mount volumes:'
  it.each<[string, Volume[], unknown, string, string, string?]>([
    [
      'a volume that is at fault', [empty, data], new MountError('empty', 'ConfigMapNotFound', 'no'),
      'ConfigMapNotFound', `${failed} "empty" : no`,
    ],
    [
      'a volume in the words of its event', [data], new MountError('data', 'ClaimNotBound', 'no', 'words'),
      'ClaimNotBound', `${failed} "data" : no`, 'words',
    ],
    [
      'the volume of a driver, if the fault plan says so', [empty, data], new StageError('volumes', 'no'),
      'VolumeMountFailed', `${failed} "data" : no`,
    ],
    [
      'the first volume, if none has a driver', [empty], new StageError('volumes', 'no'), 'VolumeMountFailed',
      `${failed} "empty" : no`,
    ],
    ['no volume, if there is none', [], new StageError('volumes', 'no'), 'VolumeMountFailed', `${unable} no`],
    [
      'no volume, if the API does not answer', [data], new TransportError('no', true), 'VolumeMountFailed',
      `${unable} no`,
    ],
  ])('tells of %s', (_, volumes, error, reason, message, event = message) => {
    expect(mountFailureOf(samplePod({ volumes }), error)).toEqual({ failure: { reason, message }, event })
  })
})
