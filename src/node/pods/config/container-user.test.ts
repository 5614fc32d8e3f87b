import { describe, expect, it } from 'vitest'
import type { PodSecurityContext, SecurityContext } from '../../../api/generated/types.ts'
import { samplePod } from '../../sample-pod.ts'
import { containerUser } from './container-user.ts'

const own = 1_900_000_005

const userOf = (podUser: number | undefined, ofPod: PodSecurityContext = {}, ofContainer: SecurityContext = {}) => {
  const pod = samplePod({ securityContext: ofPod, containers: [{ name: 'app', image: 'i', securityContext: ofContainer, resources: {} }] })
  const { user, noNewPrivileges } = containerUser(pod, pod.spec.containers[0]!, podUser)
  return `${user.uid ?? '-'}:${user.gid ?? '-'} [${user.supplementalGroups.join(' ')}]${noNewPrivileges ? ' confined' : ''}`
}

describe('containerUser()', () => {
  it.each<[string, number | undefined, PodSecurityContext, SecurityContext, string]>([
    ['nothing said, and no user of its own', undefined, {}, {}, '-:- []'],
    ['nothing said', own, {}, {}, `${own}:${own} [] confined`],
    ['root', own, { runAsUser: 0, runAsGroup: 0, supplementalGroups: [0, 4] }, {}, `${own}:${own} [4] confined`],
    ['another user', own, { runAsUser: 1000 }, {}, `1000:${own} [] confined`],
    ['another user and groups', own, { runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000, supplementalGroups: [4000] }, {}, '1000:3000 [4000 2000] confined'],
    ['another one for the container', own, { runAsUser: 1000 }, { runAsUser: 0 }, `${own}:${own} [] confined`],
    ['its own by number', own, { runAsUser: own }, {}, `${own}:${own} [] confined`],
    ['privileged', own, {}, { privileged: true }, '-:- []'],
    ['privileged as another user', own, { runAsUser: 1000 }, { privileged: true }, '1000:- []'],
  ])('%s', (_what, podUser, ofPod, ofContainer, expected) => {
    expect(userOf(podUser, ofPod, ofContainer)).toBe(expected)
  })

  it.each<[string, PodSecurityContext]>([
    ['user', { runAsUser: own + 1 }],
    ['group', { runAsGroup: own + 1 }],
    ['fsGroup', { fsGroup: own + 1 }],
    ['supplemental group', { supplementalGroups: [1, own + 1] }],
  ])('the %s of another pod is refused', (_what, ofPod) => {
    expect(() => userOf(own, ofPod)).toThrow(`container's user or group ${own + 1} is one that the node gives to other pods`)
    expect(() => userOf(own, ofPod, { privileged: true })).toThrow('gives to other pods')
  })
})
