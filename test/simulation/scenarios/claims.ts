import type { PersistentVolume } from '../../../src/api/generated/types.ts'
import { localPathProvisioner } from '../../../src/api/kinds/volumes/storage-classes.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type ResourceType, persistentvolumeclaims, persistentvolumes, pods, storageclasses } from '../../../src/client/index.ts'
import { claimBinder } from '../../../src/controllers/claim-binder/controller.ts'
import { volumeBinder } from '../../../src/controllers/claim-binder/volumes.ts'
import { claimExpander } from '../../../src/controllers/claim-expander/controller.ts'
import { claimProtector, volumeProtector } from '../../../src/controllers/claim-protection/controller.ts'
import { localPathControllers } from '../../../src/controllers/local-path-provisioner/index.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { claimRules } from './claim-rules.ts'
import { deleteSome } from './replica-sets.ts'

const claimNames = ['a', 'b', 'c', 'd']
const volumeNames = ['v', 'w', 'x']
const podNames = ['p', 'q', 'r']
/** Volumes that people make; that are made at once; that are made for the first consumer. */
const classes = ['manual', 'now', 'standard']
const sizes = ['1Gi', '2Gi', '3Gi']
const accessModes = ['ReadWriteOnce']

const isFree = (world: World, type: ResourceType, name: string) => !world.truth.get(type.plural, type.namespaced ? `default/${name}` : name)

/** Makes one under a name that is free, if there is one. */
const make = (type: ResourceType, names: readonly string[], weight: number, bodyOf: (random: SeededRandom) => object): UserAction => ({
  name: `creates one of ${type.plural}`,
  weight,
  async run(client, random, world) {
    const name = random.pick(names)
    if (isFree(world, type, name)) await client.create(type, { metadata: { name, ...(type.namespaced ? { namespace: 'default' } : {}) }, ...bodyOf(random) })
  },
})

const createClaim = make(persistentvolumeclaims, claimNames, 5, (random) => ({
  spec: { accessModes, storageClassName: random.pick(classes), resources: { requests: { storage: random.pick(sizes) } } },
}))

const createVolume = make(persistentvolumes, volumeNames, 3, (random) => ({
  spec: {
    accessModes,
    storageClassName: 'manual',
    capacity: { storage: random.pick(sizes) },
    hostPath: { path: '/d' },
    ...(random.below(4) === 0 ? { claimRef: { namespace: 'default', name: random.pick(claimNames) } } : {}),
  },
}))

const createPod = make(pods, podNames, 3, (random) => ({
  spec: {
    containers: [{ name: 'main', image: 'app:1' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: random.pick(claimNames) } }],
    ...(random.below(3) > 0 ? { nodeName: random.pick(['n1', 'n2']) } : {}),
  },
}))

const deletePod: UserAction = {
  name: 'deletes a pod at once',
  weight: 3,
  run: (client, random) => client.delete(pods, 'default', random.pick(podNames), { gracePeriodSeconds: 0 }),
}

const deleteVolume: UserAction = {
  name: 'deletes a volume',
  weight: 1,
  run: (client, random) => client.delete(persistentvolumes, '', random.pick(volumeNames)),
}

const growClaim: UserAction = {
  name: 'asks for more',
  weight: 2,
  run(client, random) {
    const spec = { resources: { requests: { storage: random.pick(['4Gi', '5Gi']) } } }
    return client.patch(persistentvolumeclaims, 'default', random.pick(claimNames), { spec }, { type: 'merge' })
  },
}

/** Frees a volume whose claim is gone, as people do when they have looked after its data. */
const freeVolume: UserAction = {
  name: 'frees a volume',
  weight: 1,
  async run(client, random, world) {
    const all = world.truth.list(persistentvolumes.plural) as PersistentVolume[]
    const released = all.filter(({ metadata, status }) => volumeNames.includes(metadata.name!) && status.phase === 'Released')
    if (released.length > 0) await client.patch(persistentvolumes, '', random.pick(released).metadata.name!, { spec: { claimRef: null } }, { type: 'merge' })
  },
}

const now = { metadata: { name: 'now' }, provisioner: localPathProvisioner, volumeBindingMode: 'Immediate', allowVolumeExpansion: true }

/** Claims, volumes and all who have to do with them. */
export const claims: SimulatedController = {
  name: 'claims',
  controllers: () => [claimBinder, volumeBinder, claimProtector, volumeProtector, claimExpander, ...localPathControllers('/volumes')],
  touched: [persistentvolumeclaims, persistentvolumes, pods],
  userActions: [createClaim, createVolume, createPod, deleteSome(persistentvolumeclaims, 3), deletePod, deleteVolume, growClaim, freeVolume],
  actor(world) {
    const createClass = () => {
      world.userClient.create(storageclasses, now).catch(() => isFree(world, storageclasses, 'now') && world.timeline.after(1000, createClass))
    }
    createClass()
  },
  invariants: claimRules,
}
