// Replays recordings of what a real Kubernetes answered against our server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, startServer } from '../kubectl/coxswain.ts'
import { canReplay, knownDifferences, recordedFlags, replay, surprises } from './replay.ts'

const replayer = 'replay-api.mjs'

/** At least this share of each file must pass, and this share to the letter, leaving out what comes later. */
const passShare = 0.99
const letterShare = 0.97

/**
 * On etcd a request waits for the current revision, and so for what the request before has set off: a definition whose
 * last instance went is gone by then, where the recorded Kubernetes takes a while to notice.
 */
const otherwiseOnEtcd = process.env['COXSWAIN_TEST_ETCD'] ? ['cr: being deleted definition refuses new instances'] : []

if (canReplay(replayer)) {
  describe('the server answers as a recorded Kubernetes', () => {
    const known = knownDifferences()
    let server: RunningServer
    let dataDir: string

    beforeAll(async () => {
      dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-conformance-'))
      server = await startServer(dataDir, recordedFlags)
    })

    afterAll(async () => {
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    })

    it.each(['workloads', 'pods', 'kinds', 'protocol', 'crd'])('in %s, but for what docs/compatibility.md lists', async (name) => {
      const tally = await replay(replayer, name, server.kubeconfig)
      for (const scenario of otherwiseOnEtcd) tally.failed.delete(scenario)
      expect(surprises(tally, known)).toEqual({ unlisted: [], mended: [] })
      const { scenarios, failed, otherWords } = tally
      const counted = scenarios.length - scenarios.filter((s) => known.get(s)?.startsWith('later')).length
      const passed = scenarios.length - failed.size
      const exact = passed - otherWords.size
      console.log(`${name}: ${scenarios.length} scenarios, ${exact} to the letter, ${otherWords.size} with other words, ${failed.size} listed`)
      expect(passed / counted).toBeGreaterThanOrEqual(passShare)
      expect(exact / counted).toBeGreaterThanOrEqual(letterShare)
    })
  })
} else {
  it('there are no recordings to replay', () => {
    expect(canReplay(replayer)).toBe(false)
  })
}
