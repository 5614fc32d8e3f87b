import type { ReplicaSet } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type ResourceType, replicasets } from '../../../src/client/index.ts'
import type { Verdict } from '../invariant.ts'
import type { UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'

const names = ['a', 'b', 'c']
const mostReplicas = 4

export const replicasOf = (owner: KubeObject): number => (owner as ReplicaSet).spec?.replicas ?? 0

/** Evaluates the number and the observed generation in the status of a set. */
export function statusIsTrue(owner: KubeObject, children: number): Verdict {
  const { replicas, observedGeneration } = (owner as ReplicaSet).status ?? {}
  if (replicas !== children) return `says that it has ${replicas}, and has ${children}`
  return observedGeneration === owner.metadata.generation ? undefined : `says that it is of generation ${observedGeneration}, and is of ${owner.metadata.generation}`
}

export const scaleSet: UserAction = {
  name: 'scales a set',
  weight: 4,
  run: (client, random, world) =>
    onSome(replicasets, random, world, (name) => client.patch(replicasets, 'default', name, { spec: { replicas: random.below(mostReplicas + 1) } }, { type: 'merge' })),
}

/** Without a free name it scales a set. */
export const createSet: UserAction = {
  name: 'creates a set',
  weight: 3,
  async run(client, random, world) {
    const free = names.filter((name) => !world.truth.get(replicasets.plural, `default/${name}`))
    if (free.length === 0) return scaleSet.run(client, random, world)
    return client.create(replicasets, {
      metadata: { name: random.pick(free), namespace: 'default' },
      spec: {
        replicas: random.below(mostReplicas + 1),
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] } },
      },
    })
  },
}

export const deleteSet: UserAction = {
  name: 'deletes a set',
  weight: 1,
  run: (client, random, world) => onSome(replicasets, random, world, (name) => client.delete(replicasets, 'default', name, { propagationPolicy: 'Background' })),
}

/** Deletes one of what a controller has made. */
export const deleteSome = (type: ResourceType, weight: number): UserAction => ({
  name: `deletes one of ${type.plural}`,
  weight,
  run: (client, random, world) => onSome(type, random, world, (name) => client.delete(type, 'default', name)),
})

async function onSome(type: ResourceType, random: SeededRandom, world: World, act: (name: string) => Promise<unknown>): Promise<void> {
  const objects = world.truth.list(type.plural)
  if (objects.length > 0) await act(random.pick(objects).metadata.name!)
}
