// Sends every row of the attack to a server of its own, and prints how long others waited beside it.
//   --program FILE   the program for node; bin/coxswain unless told
//   --only TEXT      rows whose name has this text
//   --bytes NUMBER   of a body; 2,900,000 unless told
//   --rounds NUMBER  the best of so many counts: other work on the machine only ever makes a stall longer
//   --json FILE      writes the figures there
//   --before FILE    shows figures of an earlier run beside these
//   --limit MS       exits with 1 if a stall is longer, or an answer is our fault
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Arena, type Figures } from './arena.ts'
import { bodyBytes } from './row.ts'
import { attackRows } from './rows.ts'

const { values: args } = parseArgs({
  options: {
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    only: { type: 'string', default: '' },
    bytes: { type: 'string', default: String(bodyBytes) },
    rounds: { type: 'string', default: '1' },
    json: { type: 'string' },
    before: { type: 'string' },
    limit: { type: 'string', default: '50' },
  },
})

const patienceMs = 20_000
const limitMs = Number(args.limit)
const before = new Map<string, Figures>(args.before ? (JSON.parse(readFileSync(args.before, 'utf8')) as Figures[]).map((f) => [f.name, f]) : [])
const rows = attackRows.filter(({ name }) => name.includes(args.only))

const shown = (figures: Figures | undefined) => (!figures ? '' : figures.code === 0 ? '> 20 s' : `${figures.heldMs.toFixed(0)} ms`)
const isOurFault = ({ code }: Figures, also: number[] = []) => code === 0 || (code >= 500 && !also.includes(code))

const arena = new Arena(args.program, patienceMs)
await arena.start()
const all: Figures[] = []
let bad = 0
try {
  console.log(`| request | bytes | code |${before.size ? ' held before |' : ''} held | stall | CPU |`)
  console.log(`|---|---|---|${before.size ? '---|' : ''}---|---|---|`)
  for (const row of rows) {
    let best: Figures | undefined
    for (let round = 0; round < Number(args.rounds); round++) {
      const figures = await arena.run(row, Number(args.bytes))
      if (!best || figures.heldMs < best.heldMs) best = figures
      if (best.heldMs <= limitMs || figures.code === 0) break
    }
    const figures = best!
    all.push(figures)
    const isBad = figures.heldMs > limitMs || isOurFault(figures, row.also)
    if (isBad) bad++
    const why = isOurFault(figures, row.also) ? ` ${figures.text.slice(0, 150)}` : ''
    const earlier = before.size ? ` ${shown(before.get(row.name))} |` : ''
    console.log(`| ${isBad ? '**' : ''}${row.name}${isBad ? '**' : ''} | ${figures.bytes} | ${figures.code}${why} |${earlier} ${shown(figures)} | ${figures.stallMs.toFixed(0)} ms | ${figures.cpuMs.toFixed(0)} ms |`)
  }
} finally {
  await arena.stop()
}
if (args.json) writeFileSync(args.json, JSON.stringify(all.map(({ text: _, ...rest }) => rest)))
console.log(`\n${rows.length} rows; ${bad} of them held others up for more than ${limitMs} ms, or were answered with a fault of ours`)
process.exit(bad ? 1 : 0)
