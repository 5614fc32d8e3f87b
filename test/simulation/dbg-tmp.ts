import { run } from './run.ts'
import { Logger } from '../../src/base/logger.ts'
import { World } from './world.ts'
let w: World
const create = World.create
World.create = async (o) => (w = await create.call(World, o))
const lines: string[] = []
for (const l of ['debug', 'info', 'warn'] as const) {
  const orig = Logger.prototype[l]
  Logger.prototype[l] = function (m: string, f?: any) { lines.push(`${((w?.timeline.nowMs ?? 0) - Date.UTC(2026,0,1))/1000} ${l} ${m} ${JSON.stringify(f, (k, v) => v instanceof Error ? v.message : v)}`); return orig.call(this, m, f) }
}
const r = await run({ seed: Number(process.argv[2] ?? 925), steps: 2000 })
console.log(r.violation)
const { Controller } = await import('../../src/controllers/kit/controller.ts')
console.log(lines.filter(l => /"default\/b"|election|leader/.test(l)).slice(-60).join('\n'))
console.log(lines.slice(-15).join('\n'))
for (const m of w!.managers) for (const c of m.life?.caches ?? []) console.log(m.name, c.informer.type.plural, c.informer.lastSyncResourceVersion, c.informer.state)
console.log(w!.truth.list('replicasets').map(o => JSON.stringify([o.metadata.name, o.metadata.resourceVersion, (o as any).spec.replicas, (o as any).status])).join('\n'))
