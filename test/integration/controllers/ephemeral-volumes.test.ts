import { expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import { persistentvolumeclaims, pods } from '../../../src/client/index.ts'
import { ephemeralVolumeController } from '../../../src/controllers/ephemeral-volume/controller.ts'
import { garbageCollector } from '../../../src/controllers/garbage-collector/controller.ts'
import { ClaimScene, claimControllers } from './claim-scene.ts'

const controllers = [...claimControllers, ephemeralVolumeController, garbageCollector]

/** A pod on a node with an ephemeral volume `scratch`. */
async function podWithScratch(s: ClaimScene, name: string): Promise<Pod> {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const volumeClaimTemplate = { metadata: { labels: { team: 'crew' }, annotations: { why: 'cache' } }, spec }
  const made = await s.client.create(pods, {
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:1' }], volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }] },
  })
  await s.pass(100)
  return made
}

/** Deletes the claim although the pod uses it. */
async function removeClaim(s: ClaimScene): Promise<void> {
  await s.remove(persistentvolumeclaims, 'web-scratch')
  await s.client.patch(persistentvolumeclaims, 'default', 'web-scratch', { metadata: { finalizers: null } }, { type: 'merge' })
  await s.pass(1000)
}

it('an ephemeral volume gets a claim of its pod, which is bound, made anew after a delete, and gone with the pod', async () => {
  const s = await ClaimScene.of(controllers)
  await s.node('n1')
  const { metadata } = await podWithScratch(s, 'web')
  const claim = await s.getClaim('web-scratch')
  expect(claim.metadata).toMatchObject({
    labels: { team: 'crew' },
    annotations: { why: 'cache' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: metadata.uid, controller: true, blockOwnerDeletion: true }],
  })
  expect(await s.claims()).toMatch(/^web-scratch Bound pvc-/)

  await removeClaim(s)
  expect((await s.getClaim('web-scratch')).metadata.uid).not.toBe(claim.metadata.uid)

  await s.client.delete(pods, 'default', 'web', { gracePeriodSeconds: 0 })
  await s.pass(60_000)
  expect(await s.claims()).toBe('')
})

it('a claim of that name which is not of the pod is told, left alone, and replaced once it is gone', async () => {
  const s = await ClaimScene.of(controllers)
  await s.claim('web-scratch')
  await podWithScratch(s, 'web')
  const { uid } = (await s.getClaim('web-scratch')).metadata
  await s.pass(60_000)
  expect((await s.getClaim('web-scratch')).metadata.uid).toBe(uid)
  expect(await s.told('web')).toContain('Warning FailedBinding: ephemeral volume scratch: PVC default/web-scratch was not created for pod default/web (pod is not owner)')

  await removeClaim(s)
  const { metadata } = await s.getClaim('web-scratch')
  expect([metadata.uid === uid, metadata.ownerReferences?.[0]?.name]).toEqual([false, 'web'])
})
