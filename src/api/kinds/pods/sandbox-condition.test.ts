import { describe, expect, it } from 'vitest'
import type { PodCondition } from '../../generated/types.ts'
import { blamesClaim, mountFailure, sandboxReasons } from './sandbox-condition.ts'

const condition = (reason: string | undefined, message = mountFailure('data', 'no'), status = 'False') =>
  ({ type: 'PodReadyToStartContainers', status, ...(reason ? { reason } : {}), message }) as PodCondition

it('reasons are named as their constants are', () => {
  const named = Object.values(sandboxReasons).map((reason) => reason[0]!.toLowerCase() + reason.slice(1))
  expect(named).toEqual(Object.keys(sandboxReasons))
})

describe('blamesClaim() is', () => {
  const words = mountFailure('data', 'no')
  it.each<[boolean, string, PodCondition | undefined]>([
    [true, 'a volume that cannot be mounted', condition('VolumeMountFailed')],
    [true, 'a claim without a volume', condition('ClaimNotBound')],
    [true, 'a claim that is missing', condition('ClaimNotFound')],
    [false, 'another volume', condition('VolumeMountFailed', mountFailure('data-2', 'no'))],
    [false, 'another volume that quotes such words', condition('VolumeMountFailed', mountFailure('x', words))],
    [false, 'a network that quotes such words', condition('NetworkNotReady')],
    [false, 'a node that does not say why, as kubelet does', condition(undefined)],
    [false, 'a sandbox that is ready', condition('VolumeMountFailed', undefined, 'True')],
    [false, 'a node that has said nothing', undefined],
  ])('%s for %s', (expected, _, said) => expect(blamesClaim(said, 'data')).toBe(expected))
})
