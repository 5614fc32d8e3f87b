// Replays step by step what the workload controllers of a real Kubernetes did: an API server and controllers of ours, each a process of its own, and the
// replayer in place of scheduler and nodes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningPart, type RunningServer, startControllers, startServer } from '../kubectl/coxswain.ts'
import { canReplay, knownDifferences, recordedFlags, recordedGates, replay, surprises } from './replay.ts'

const replayer = 'replay-controllers.mjs'

/**
 * The number of concurrent scenarios, and the time without changes after each step, in milliseconds. Most of the
 * duration is this wait. Some scenarios have deadlines of three seconds, which must not pass in between.
 */
const together = { WIDTH: '12', QUIET: '1100' }
/** First at the pace at which Kubernetes was recorded: there are deadlines that must have passed by the next step, too. */
const alone = [{ WIDTH: '1', QUIET: '1600' }, { WIDTH: '1', QUIET: '1100' }]

const limitMs = 300_000

/** Files, and the half of them that there are controllers for. */
const files: readonly [name: string, only: string][] = [
  ['controllers-deployment', ''],
  ['controllers-statefulset', ''],
  ['controllers-daemonset-job', ''],
]

if (canReplay(replayer)) {
  describe('the controllers do what a recorded Kubernetes did', () => {
    const known = knownDifferences()
    let server: RunningServer
    let controllers: RunningPart
    let dataDir: string

    beforeAll(async () => {
      dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-conformance-'))
      server = await startServer(dataDir, recordedFlags)
      controllers = await startControllers(server.kubeconfig, ['--feature-gates', recordedGates, '--log-level', 'error'])
    })

    afterAll(async () => {
      await controllers?.stop()
      await server?.stop()
      rmSync(dataDir, { recursive: true, force: true })
    })

    it.each(files)('in %s %s, but for what docs/compatibility.md lists', async (name, only) => {
      const tally = await replay(replayer, name, server.kubeconfig, { only, env: together })
      // A deadline may pass too soon or too late at this pace. A run of the scenario alone shows whether that was the
      // cause.
      for (const scenario of [...tally.failed.keys()].filter((s) => !known.has(s))) {
        for (const env of alone) {
          const again = await replay(replayer, name, server.kubeconfig, { only: scenario, env })
          if (!again.failed.has(scenario)) tally.failed.delete(scenario)
          if (!tally.failed.has(scenario)) break
        }
      }
      expect(surprises(tally, known)).toEqual({ unlisted: [], mended: [] })
      expect(tally.scenarios.length).toBeGreaterThan(0)
      console.log(`${name}: ${tally.scenarios.length} scenarios, ${tally.failed.size} listed`)
    }, limitMs)
  })
} else {
  it('there are no recordings to replay', () => {
    expect(canReplay(replayer)).toBe(false)
  })
}
