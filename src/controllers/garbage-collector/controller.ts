import type { KubeObject } from '../../api/object.ts'
import { type ResourceType, type ServedResource, resourceName } from '../../client/index.ts'
import {
  type FreeContext,
  type FreeController,
  KeyLoop,
  ReplacedVersions,
  type Running,
  ServedKinds,
} from '../kit/index.ts'
import { Collector } from './collector.ts'
import { type Concerns, Graph } from './graph.ts'
import { Owners } from './owners.ts'

/** The time before the server is asked for an owner that the caches lack. Usually the cache is only late. */
const lateMs = 500

const collectable = ['delete', 'list', 'watch']

/** Events expire after an hour, and have no owners. */
const isNoEvent = (type: ResourceType): boolean => !['events', 'events.events.k8s.io'].includes(resourceName(type))

export interface GarbageCollectorOptions {
  /** Selects the kinds to follow. Default: all except Events. */
  isCollected?(type: ResourceType): boolean
}

/** Deletes objects without owners, and executes foreground deletion and orphaning. */
export const defineGarbageCollector = ({ isCollected = isNoEvent }: GarbageCollectorOptions = {}): FreeController => ({
  name: 'garbage-collector',
  workers: 20,
  start: (ctx) => start(ctx, isCollected),
})

export const garbageCollector = defineGarbageCollector()

function start(ctx: FreeContext, isCollected: (type: ResourceType) => boolean): Running {
  const loop = new KeyLoop('garbage_collector_attempt_to_delete', ctx, (uid) => collector.look(uid))
  let tellReady = () => {}
  const isReady = new Promise<void>((resolve) => (tellReady = resolve))
  const attend = ({ now, soon }: Concerns) => {
    for (const uid of now) loop.queue.add(uid)
    for (const uid of soon) loop.queue.addAfter(uid, lateMs)
  }
  const isWanted = (type: ServedResource) => collectable.every((verb) => type.verbs.includes(verb)) && isCollected(type)
  const kinds: ServedKinds = new ServedKinds(ctx, 'garbage collector', isWanted, {
    follow: ({ type, informer }) => {
      const set = (object: KubeObject) => {
        replaced.saw(object)
        attend(graph.set(type, object))
      }
      const remove = (object: KubeObject) => {
        replaced.gone(object)
        return graph.remove(object)
      }
      const removeHandler = informer.addHandler({
        add: set,
        update: (_old, object) => set(object),
        delete: (object) => {
          if (graph.hasDependents(object.metadata.uid ?? '')) owners.noteGone(type, object)
          attend(remove(object))
        },
      })
      return () => {
        removeHandler()
        // The objects of a kind that is no longer served receive no events. Their dependents are not treated as
        // orphaned.
        for (const object of informer.list()) remove(object)
      }
    },
    ready: () => {
      loop.start()
      tellReady()
    },
  })
  const owners = new Owners(ctx, kinds)
  const graph = new Graph((ref, namespace) => owners.cached(ref, namespace) !== undefined)
  const replaced = new ReplacedVersions()
  const collector = new Collector(ctx, { graph, kinds, owners, replaced, lookAt: (uid) => loop.queue.add(uid) })
  kinds.start()
  return {
    ready: () => isReady,
    problems: () => [...kinds.problems(), ...loop.problems()],
    async stop() {
      kinds.stop()
      await loop.stop()
    },
  }
}
