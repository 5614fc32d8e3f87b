import { existsSync } from 'node:fs'
import path from 'node:path'
import { StoreOpenError, openLmdbSnapshot } from '../../store/index.ts'
import { type Check, type Finding, ok, problem, sizeText, warning } from './finding.ts'

const check = 'store'

const remedies: Readonly<Record<StoreOpenError['why'], string>> = {
  InUse: 'Wait until that process has ended, or stop it',
  Missing: 'Start a server, or restore a backup',
  Corrupt: 'Restore a backup into a new data directory, and keep this one',
  ForeignFormat: 'Use another --data-dir',
  NewerFormat: 'Start the release that wrote it',
  NotConverted: 'Free some space, and start again',
  Unusable: 'Repair the disk or correct its permissions, and start again',
  Unreachable: 'Start etcd, or check the network path to it',
}

/** Checks the embedded store. Reads all of it if no server uses it; otherwise asks the server. */
export const checkStore: Check = async ({ store, dataDir, running, nowMs }) => {
  if (running) {
    const { status } = running
    const size = status.store === 'etcd' ? '' : `, ${sizeText(status.storedBytes)}`
    return [ok(check, `${status.store} is in use by process ${status.pid}, at revision ${status.revision}${size}`)]
  }
  if (store === 'memory') return [ok(check, 'memory: nothing is stored, and no server runs')]
  if (store === 'etcd') return []
  const dir = path.join(dataDir, 'db')
  if (!existsSync(path.join(dir, 'data.mdb'))) return [ok(check, `${dir} has no store yet: the first start creates it`)]
  try {
    const snapshot = await openLmdbSnapshot(dir)
    await snapshot.close()
    const { format, items, revision, newestMs } = snapshot.summary
    return [
      ok(
        check,
        `LMDB, format ${format}: all records were read and are valid; ${items} objects at revision ${revision}`,
      ),
      ...clockOf(newestMs, nowMs),
    ]
  } catch (e) {
    if (!(e instanceof StoreOpenError)) return [problem(check, (e as Error).message, remedies.Unusable)]
    return [problem(check, e.message, remedies[e.why])]
  }
}

/** Larger than the deviation of a synchronized clock. */
const tolerableMs = 5000

/** Compares the clock with the latest commit time in the store. */
function clockOf(newestMs: number, nowMs: number): Finding[] {
  const aheadMs = newestMs - nowMs
  if (aheadMs <= tolerableMs) return []
  const times = `the newest write is from ${new Date(newestMs).toISOString()}, and the clock of this machine says ${new Date(nowMs).toISOString()}`
  const message = `${times}: the clock was set back, or was ahead before. No data is lost, but until then history is compacted by count only`
  return [warning('clock', message, 'Correct the clock')]
}
