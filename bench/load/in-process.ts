import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FeatureGates } from '../../src/api/feature-gates.ts'
import { Logger } from '../../src/base/logger.ts'
import { runEverything } from '../../src/cluster/index.ts'

/** A whole cluster in this process, for the tests of the benches. */
export interface InProcess {
  kubeconfig: string
  stop(): Promise<void>
}

/** Starts what `coxswain up --store memory --runtime simulated` starts, on a free port and a directory of its own. */
export async function startInProcess(nodes: number): Promise<InProcess> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-test-'))
  const running = await runEverything({
    dataDir,
    store: 'memory',
    bindAddress: '127.0.0.1',
    securePort: 0,
    kubeconfigOut: undefined,
    tokenAuthFile: undefined,
    clientCaFile: undefined,
    disabledAdmission: [],
    gates: FeatureGates.of(),
    release: 'test',
    logger: new Logger(() => {}, 'error'),
    nodeName: 'n',
    nodes,
    runtime: 'simulated',
  })
  return {
    kubeconfig: running.kubeconfig,
    async stop() {
      await running.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
