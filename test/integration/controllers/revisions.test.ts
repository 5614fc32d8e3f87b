import { describe, expect, it } from 'vitest'
import type { ControllerRevision, PodTemplateSpec } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { ResourceType } from '../../../src/client/index.ts'
import { clonesets, controllerrevisions, daemonsets, events, statefulsets } from '../../../src/client/index.ts'
import { VirtualClock } from '../../../src/cluster/testing.ts'
import { cloneSetController } from '../../../src/controllers/cloneset/controller.ts'
import { daemonSetController } from '../../../src/controllers/daemonset/controller.ts'
import type { ManagedController } from '../../../src/controllers/kit/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { openMemoryStore } from '../../../src/store/index.ts'
import { Scene } from '../kit/scene.ts'

interface Kind {
  kind: string
  type: ResourceType
  controller: ManagedController
  spec: object
  /** The label of its revisions that has the hash. */
  hashLabel: string
}

// Nothing runs: a revision comes before pods.
const [ofPods, ofContent] = ['controller-revision-hash', 'controller.kubernetes.io/hash']
const kinds: Kind[] = [
  { kind: 'DaemonSet', type: daemonsets, controller: daemonSetController, spec: {}, hashLabel: ofPods! },
  {
    kind: 'StatefulSet',
    type: statefulsets,
    controller: statefulSetController,
    spec: { replicas: 0, serviceName: 'web' },
    hashLabel: ofContent!,
  },
  { kind: 'CloneSet', type: clonesets, controller: cloneSetController, spec: { replicas: 0 }, hashLabel: ofContent! },
]

const labels = { app: 'web' }
const template = {
  metadata: { labels, annotations: { z: '<b>&</b>', 10: 'ten', 9: 'nine', a: 'ü\u2028' } },
  spec: {
    nodeSelector: { role: 'none', 10: 'x', 9: 'y' },
    containers: [{ name: 'main', image: 'app:1', resources: {} }],
  },
}

/** The data as Kubernetes 1.36 stores it. */
const data =
  '{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"10":"ten","9":"nine","a":"ü\\u2028",' +
  '"z":"\\u003cb\\u003e\\u0026\\u003c/b\\u003e"},"labels":{"app":"web"}},"spec":{"containers":[{"image":"app:1",' +
  '"imagePullPolicy":"IfNotPresent","name":"main","resources":{},"terminationMessagePath":"/dev/termination-log",' +
  '"terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","nodeSelector":{"10":"x","9":"y","role":"none"},' +
  '"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},' +
  '"terminationGracePeriodSeconds":30}}}}'

describe.each(kinds)('the revision of a $kind', ({ type, controller, spec, hashLabel }) => {
  const begin = async () => {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const store = openMemoryStore({ clock })
    const scene = await Scene.start({ controllers: [controller], clock, store })
    const create = async () => {
      const metadata = { name: 'web', namespace: 'default' }
      const set = { metadata, spec: { selector: { matchLabels: labels }, template, ...spec } }
      await scene.client.create(type, set as KubeObject)
      await scene.pass(100)
    }
    const stored = async () => {
      const { items } = await store.range('/registry/controllerrevisions/')
      return items.map(({ value }) => value.toString())
    }
    const revisions = async () => (await scene.client.list(controllerrevisions, 'default')).items
    return { scene, create, stored, revisions }
  }

  it('is stored in the bytes of Kubernetes, under its label', async () => {
    const { create, stored, revisions } = await begin()
    await create()
    const [text, ...others] = await stored()
    expect(others).toEqual([])
    expect(text).toContain(`,"data":${data},"revision":1}`)
    const [{ metadata }] = (await revisions()) as [ControllerRevision]
    expect(metadata.labels).toEqual({ ...labels, [hashLabel]: metadata.name!.slice('web-'.length) })
  })

  it.each<[string, (held: PodTemplateSpec) => unknown]>([
    ['of this release', () => {}],
    ['before 1.34', (held) => Object.assign(held.metadata!, { creationTimestamp: null })],
    ['that does not know a default', (held) => delete held.spec.schedulerName],
  ])('is found where a Kubernetes %s has made it: there is no other', async (_, change) => {
    const { scene, create, revisions } = await begin()
    const made = JSON.parse(data) as { spec: { template: PodTemplateSpec } }
    change(made.spec.template)
    const metadata = { name: 'web-theirs', namespace: 'default', labels: { ...labels, [hashLabel]: 'theirs' } }
    await scene.client.create(controllerrevisions, { metadata, data: made, revision: 7 })
    await create()
    const [found, ...others] = await revisions()
    expect(others).toEqual([])
    expect(found!.metadata).toMatchObject({ name: 'web-theirs', ownerReferences: [{ name: 'web', controller: true }] })
    expect(found).toMatchObject({ revision: 7, data: made })
    const set = (await scene.client.get(type, 'default', 'web')) as KubeObject & { status: { updateRevision?: string } }
    expect(set.status.updateRevision).toBe('web-theirs')
  })
})

it('workloads of several kinds with one name and one template each get a revision, and no warning', async () => {
  const scene = await Scene.start({ controllers: kinds.map(({ controller }) => controller) })
  for (const { type, spec } of kinds) {
    const metadata = { name: 'web', namespace: 'default' }
    const object = { metadata, spec: { ...spec, selector: { matchLabels: labels }, template } }
    await scene.client.create(type, object as never)
  }
  await scene.pass(5000)
  const { items } = await scene.client.list(controllerrevisions, 'default')
  const owners = items.map(({ metadata }) => metadata.ownerReferences?.[0]?.kind ?? '')
  expect(owners.toSorted()).toEqual(['CloneSet', 'DaemonSet', 'StatefulSet'])
  const warnings = (await scene.client.list(events, 'default')).items.filter(({ type }) => type === 'Warning')
  expect(warnings.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([])
})
