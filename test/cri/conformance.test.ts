import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { describeRuntime } from '../../src/node/runtimes/conformance/runtime-suite.ts'
import { CriRuntime } from '../../src/node/runtimes/cri/cri-runtime.ts'
import { Containerd } from './containerd.ts'
import { makeImage } from './images.ts'

describeRuntime('containerd', async () => {
  const containerd = await Containerd.start()
  containerd.registry.serve('library/nginx:1.27', makeImage({ cmd: ['httpd', '-f'] }))
  const runtime = await CriRuntime.open({ endpoint: containerd.endpoint, owner: 'suite', directory: path.join(containerd.directory, 'node'), cgroupTree: 'coxswain-suite', clock: systemClock, logger: silentLogger })
  const logs = mkdtempSync(path.join(containerd.directory, 'logs-'))
  return {
    runtime,
    logDirectory: logs,
    until: (holds) => vi.waitFor(async () => expect(await holds()).toBe(true), { timeout: 40_000, interval: 5 }),
    async end() {
      for (const { id } of await runtime.listPodSandboxes()) await runtime.removePodSandbox(id)
      await runtime.close()
      await containerd.remove()
      rmSync(logs, { recursive: true, force: true })
    },
  }
})
