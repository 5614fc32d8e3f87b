import { describe, expect, it } from 'vitest'
import type { PodSpec, Volume } from '../../generated/types.ts'
import { pathsTo, valueAt } from '../../schema/sample-paths.ts'
import { referencesOfVolume } from './volume-references.ts'

/** All fields of a pod that name an object, and whose path says that it is a secret, a config map or a claim. */
const naming = pathsTo('string', 'PodSpec').filter((path) => /name$/i.test(path.at(-1)!) && /secret|configMap|claim/i.test(path.join('.')))
const names = naming.map((path) => path.join('.'))

/** Fields by which no volume waits for an object, and why. */
const others: [string, RegExp][] = [
  ['environment of containers: it is read after there is a sandbox', /^(containers|initContainers|ephemeralContainers)\.\[\]\.env/],
  ['pulling images comes after the sandbox, too', /^imagePullSecrets\./],
  ['a claim that is made for the pod, with all that it says itself', /^volumes\.\[\]\.ephemeral\.volumeClaimTemplate\./],
  ['claims of devices', /^resourceClaims\.|(^|\.)resources\.claims\./],
]
const isOther = (name: string) => others.some(([, pattern]) => pattern.test(name))
const ofVolumes = naming.filter((path) => !isOther(path.join('.')))

describe('referencesOfVolume()', () => {
  it('is about fields that there are', () => {
    expect(names).toEqual(expect.arrayContaining(['volumes.[].csi.nodePublishSecretRef.name', 'volumes.[].secret.secretName', 'volumes.[].projected.sources.[].configMap.name']))
    for (const [why, pattern] of others) expect(names.some((name) => pattern.test(name)), why).toBe(true)
  })

  it.each(ofVolumes.map((path) => [path.join('.'), path] as const))('knows %s', (name, path) => {
    const { volumes: [volume] } = valueAt(path, 'x') as unknown as { volumes: [Volume] } & PodSpec
    const resource = /configMap/.test(name) ? 'configmaps' : /claimName/.test(name) ? 'persistentvolumeclaims' : 'secrets'
    expect(referencesOfVolume(volume)).toEqual([{ resource, name: 'x', isOptional: false }])
  })

  it.each<[string, Partial<Volume>]>([
    ['a config map', { configMap: { name: 'x', optional: true } }],
    ['a secret', { secret: { secretName: 'x', optional: true } }],
    ['one of several sources', { projected: { sources: [{ secret: { name: 'x', optional: true } }] } }],
  ])('says that %s is optional', (_, volume) => {
    expect(referencesOfVolume({ name: 'v', ...volume })).toMatchObject([{ isOptional: true }])
  })
})
