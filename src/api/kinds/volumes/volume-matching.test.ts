import { describe, expect, it } from 'vitest'
import type { Node, PersistentVolume } from '../../generated/types.ts'
import { sampleClaim as claim, sampleVolume as volume } from './sample-volumes.ts'
import { type Wanted, matchingVolume, whyUnfit } from './volume-matching.ts'

const sized = (name: string, storage: string, more: object = {}) => volume(name, { spec: { capacity: { storage }, ...more } })
const reserved = (name: string, spec: object = {}, uid?: string) => volume(name, { spec: { claimRef: { namespace: 'default', name: 'c', ...(uid ? { uid } : {}) }, ...spec } })
const both = { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }
const on = (zone: string) => ({ nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] } } })
const node: Pick<Node, 'metadata'> = { metadata: { name: 'n', labels: { zone: 'a' } } }

describe('matchingVolume()', () => {
  it.each<[string, object, PersistentVolume[], string | undefined, Wanted?]>([
    ['nothing from nothing', {}, [], undefined],
    ['the smallest that is large enough', { resources: { requests: { storage: '2Gi' } } }, [sized('e', '5Gi'), sized('t', '2048Mi'), sized('o', '1Gi')], 't'],
    ['of equals the first by name', {}, [volume('b'), volume('a')], 'a'],
    ['none that is too small', { resources: { requests: { storage: '2Gi' } } }, [volume('v')], undefined],
    ['none of another class', {}, [volume('v', { spec: { storageClassName: 'fast' } })], undefined],
    ['one without a class for a claim that wants none', { storageClassName: '' }, [volume('v', { spec: { storageClassName: undefined } })], 'v'],
    ['none that lacks an access mode', both, [volume('v')], undefined],
    ['one that can do more', {}, [volume('v', { spec: both })], 'v'],
    ['one that can do no more than is asked for, though it is larger', {}, [sized('more', '1Gi', both), sized('plain', '9Gi')], 'plain'],
    ['no device for files', {}, [volume('v', { spec: { volumeMode: 'Block' } })], undefined],
    ['a device for a device', { volumeMode: 'Block' }, [volume('files'), volume('device', { spec: { volumeMode: 'Block' } })], 'device'],
    ['what the selector selects', { selector: { matchLabels: { disk: 'ssd' } } }, [volume('a'), volume('b', { metadata: { labels: { disk: 'ssd' } } })], 'b'],
    ['none of another attributes class', { volumeAttributesClassName: 'gold' }, [volume('v')], undefined],
    ['none that is being deleted', {}, [volume('v', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })], undefined],
    ['none whose phase is not known yet', {}, [volume('v', { status: { phase: 'Pending' } })], undefined],
    ['none that another claim has', {}, [volume('v', { spec: { claimRef: { namespace: 'default', name: 'd' } } })], undefined],
    ['the one that is meant for it, though it is larger', {}, [volume('v'), reserved('r', { capacity: { storage: '9Gi' } })], 'r'],
    ['the one that is meant for it, whatever its class and labels', { selector: { matchLabels: { disk: 'ssd' } } }, [reserved('r', { storageClassName: 'fast' })], 'r'],
    ['not the one that was meant for a claim of the same name before', {}, [reserved('r', {}, 'uid-old')], undefined],
    ['not the one that is meant for it and too small', { resources: { requests: { storage: '2Gi' } } }, [reserved('r'), sized('v', '3Gi')], 'v'],
    ['only the one that is meant for it while there is no consumer', {}, [volume('v'), reserved('r')], 'r', { onlyReserved: true }],
    ['none while there is no consumer', {}, [volume('v')], undefined, { onlyReserved: true }],
    ['the smallest that the node reaches', {}, [sized('far', '1Gi', on('b')), sized('near', '3Gi', on('a')), sized('anywhere', '2Gi')], 'anywhere', { node: node as Node }],
    ['none if the one that is meant for it is out of reach', {}, [reserved('r', on('b')), volume('v')], undefined, { node: node as Node }],
  ])('takes %s', (_, spec, volumes, name, wanted) => {
    expect(matchingVolume(claim('c', { spec }), volumes, wanted)?.metadata.name).toBe(name)
  })
})

describe('whyUnfit()', () => {
  it.each<[string, PersistentVolume, object, string | undefined]>([
    ['nothing', volume('v'), {}, undefined],
    ['its end', volume('v', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), {}, 'the volume is marked for deletion "v"'],
    ['its size', volume('v'), { resources: { requests: { storage: '2Gi' } } }, 'requested PV is too small'],
    ['its class', volume('v'), { storageClassName: 'fast' }, 'storageClassName does not match'],
    ['its sort', volume('v'), { volumeMode: 'Block' }, 'incompatible volumeMode'],
    ['its access modes', volume('v'), both, 'incompatible accessMode'],
  ])('is %s', (_, given, spec, why) => {
    expect(whyUnfit(given, claim('c', { spec }))).toBe(why)
  })
})
