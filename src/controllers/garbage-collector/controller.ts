import type { KubeObject } from '../../api/object.ts'
import type { ResourceType } from '../../client/index.ts'
import { type FreeContext, type FreeController, KeyLoop, ReplacedVersions, type Running } from '../kit/index.ts'
import { Collector } from './collector.ts'
import { type Concerns, Graph } from './graph.ts'
import { Kinds, isNoEvent } from './kinds.ts'
import { Owners } from './owners.ts'

/** How long the caches have to show an owner that they lack before the server is asked for it: it is mostly only late. */
const lateMs = 500

export interface GarbageCollectorOptions {
  /** Which kinds are followed. Default: all but Events. */
  isCollected?(type: ResourceType): boolean
}

/** Deletes what lost all its owners, and sees that owners go the way they were asked to. */
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
  const kinds: Kinds = new Kinds(ctx, isCollected, {
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
        // Nobody says any more what becomes of these; whether their dependents have lost them is not known.
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
    problems: () => kinds.problems(),
    async stop() {
      kinds.stop()
      await loop.stop()
    },
  }
}
