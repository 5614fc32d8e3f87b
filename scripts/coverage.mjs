// Prints which share of the statements of src the unit tests run: one line a room, and a total.
// `npm run coverage [-- FILE…]`. The report of every file is coverage/index.html.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** The flags that make vitest measure src. */
export const coverageFlags = [
  '--coverage.enabled',
  '--coverage.reportOnFailure',
  '--coverage.include=src/**/*.ts',
  '--coverage.exclude=src/api/generated/**',
  '--coverage.exclude=**/*.test.ts',
  '--coverage.reporter=json-summary',
  '--coverage.reporter=html',
]

/** One line a room, and a total, of the last measurement. */
export function coverageTable() {
  const summary = JSON.parse(readFileSync(path.join(root, 'coverage/coverage-summary.json'), 'utf8'))
  const rooms = new Map()
  for (const [file, { statements, branches }] of Object.entries(summary)) {
    const room = file === 'total' ? 'total' : path.relative(root, file).split(path.sep).slice(0, 2).join('/')
    const sums = rooms.get(room) ?? { statements: [0, 0], branches: [0, 0] }
    for (const [name, { covered, total }] of Object.entries({ statements, branches })) {
      sums[name][0] += covered
      sums[name][1] += total
    }
    rooms.set(room, sums)
  }
  const percent = ([covered, total]) => `${((100 * covered) / Math.max(1, total)).toFixed(1)}%`.padStart(7)
  const rest = [...rooms].filter(([room]) => room !== 'total').sort()
  return [...rest, ['total', rooms.get('total')]]
    .map(
      ([room, sums]) =>
        `${room.padEnd(18)}${percent(sums.statements)} of statements${percent(sums.branches)} of branches`,
    )
    .join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vitest = path.join(root, 'node_modules/.bin/vitest')
  const args = ['run', '--project', 'unit', ...coverageFlags, ...process.argv.slice(2)]
  const { status } = spawnSync(vitest, args, { cwd: root, stdio: 'inherit' })
  if (status === 0) console.log(coverageTable())
  process.exitCode = status ?? 1
}
