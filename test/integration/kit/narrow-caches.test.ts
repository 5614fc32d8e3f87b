import { describe, expect, it } from 'vitest'
import type { ConfigMap, ReplicaSet } from '../../../src/api/generated/types.ts'
import { TransportError, configmaps, replicasets } from '../../../src/client/index.ts'
import { type Writer, defineController } from '../../../src/controllers/index.ts'
import { replicaSet } from './crew.ts'
import { Scene } from './scene.ts'

const asked = (set: ReplicaSet) => set.metadata.annotations?.['example.com/turn']

interface Observed {
  turn: string | undefined
  last: unknown
}

/** Writes something at each turn that the owner asks for, and notes when. */
function turning(write: (writer: Writer) => Promise<unknown>) {
  const turns: string[] = []
  const controller = defineController<ReplicaSet, Observed, { kind: 'Write'; turn: string }>({
    name: 'turning',
    owner: replicasets,
    sources: { owns: [configmaps] },
    observe: ({ remembered }, set) => ({ turn: asked(set), last: remembered }),
    plan: ({ turn, last }) => ({ actions: turn === undefined || turn === last ? [] : [{ kind: 'Write', turn }] }),
    apply: {
      Write: async ({ writer }, { turn }) => {
        turns.push(turn)
        // If the first reconcile writes elsewhere, the second one shows whether that was waited for.
        if (turn === '1') await write(writer)
      },
    },
    status: { compute: () => ({ replicas: 0 }) },
    remember: ({ turn }) => turn,
  })
  return { turns, controller }
}

const ask = (s: Scene, turn: string) => {
  const patch = { metadata: { annotations: { 'example.com/turn': turn } } }
  return s.client.patch(replicasets, 'default', 'web', patch, { type: 'merge' })
}

const made = (namespace: string, name = 'elsewhere') => ({ metadata: { namespace, name }, data: {} })

/** Sends a write whose answer is lost. */
const withoutAnswer = (s: Scene) => {
  s.wire.intercept = async (request, send) => {
    const answer = await send()
    if (request.path.includes('/configmaps')) throw new TransportError('read ECONNRESET', false)
    return answer
  }
}

describe('a manager that looks at one namespace, and writes in another', () => {
  type Write = (writer: Writer, there: ConfigMap) => Promise<unknown>
  const create: Write = (writer) => writer.create(configmaps, made('kube-system'))
  const createAgain: Write = (writer) => writer.create(configmaps, made('kube-system', 'there'))
  const change: Write = (writer, there) => writer.patch(configmaps, there, { data: { a: 'b' } }, { type: 'merge' })
  const remove: Write = (writer, there) => writer.delete(configmaps, there)
  const rows: [what: string, write: Write, prepare?: (s: Scene) => void][] = [
    ['a create', create],
    ['a create of what is there', createAgain],
    ['a create whose answer is lost', create, withoutAnswer],
    ['a change', change],
    ['a change whose answer is lost', change, withoutAnswer],
    ['a delete', remove],
    ['a delete whose answer is lost', remove, withoutAnswer],
  ]

  it.each(rows)('does not wait for its caches to have it: %s', async (_, write, prepare) => {
    let s!: Scene
    const there = () => s.client.get(configmaps, 'kube-system', 'there')
    const { turns, controller } = turning(async (writer) => write(writer, await there()).catch(() => {}))
    s = await Scene.start({ controllers: [controller], manager: { namespace: 'default' } })
    await s.client.create(configmaps, made('kube-system', 'there'))
    prepare?.(s)
    await s.client.create(replicasets, replicaSet('web', 0))
    await s.pass(1000)
    await ask(s, '1')
    await s.pass(1000)
    await ask(s, '2')
    await s.pass(100)
    expect(turns).toEqual(['1', '2'])
    await s.pass(12_000)
    expect(s.cluster.manager!.problems()).toEqual([])
  })

  it('waits for what it writes in its own', async () => {
    const { turns, controller } = turning((writer) => writer.create(configmaps, made('default')))
    const s = await Scene.start({ controllers: [controller], manager: { namespace: 'default' } })
    s.wire.delaysMs.set('configmaps', 20_000)
    await s.client.create(replicasets, replicaSet('web', 0))
    await ask(s, '1')
    await s.pass(1000)
    await ask(s, '2')
    await s.pass(12_000)
    expect(turns).toEqual(['1'])
    const problem = expect.stringContaining('informer configmaps/default has not seen a write')
    expect(s.cluster.manager!.problems()).toEqual([problem])
    await s.pass(60_000)
    expect(turns).toEqual(['1', '2'])
  })
})
