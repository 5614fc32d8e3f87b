import { type EtcdMemberState, probeEtcd } from '../../store/index.ts'
import { readEtcdTls } from '../serving/open-store.ts'
import { type Check, type Finding, ok, problem, sizeText, warning } from './finding.ts'

const check = 'etcd'
const slowMs = 100
/** etcd's default quota is 2 GB. */
const largeBytes = 1.6 * 2 ** 30

/** Checks the members of --etcd-servers. */
export const checkEtcd: Check = async ({ store, etcd }) => {
  if (store !== 'etcd') return []
  if (!etcd) return [problem(check, '--etcd-servers must be specified', 'Name the client URLs of the members')]
  try {
    const members = await probeEtcd({ servers: etcd.servers, tls: readEtcdTls(etcd) })
    return [...members.map(memberFinding), ...clusterFindings(members)]
  } catch (e) {
    return [problem(check, (e as Error).message, 'Correct the flag or its file')]
  }
}

type Known = EtcdMemberState & { kind: 'known' }

function memberFinding(member: EtcdMemberState): Finding {
  const { url } = member
  if (member.kind === 'silent')
    return warning(
      check,
      `${url} does not answer: ${member.why}`,
      'Start that member, or check the network path; the other members keep serving while they have a majority',
    )
  const { version, isSupported, dbBytes, answerMs, alarms } = member
  const about = `${url}: etcd ${version}, ${sizeText(dbBytes)}, answers in ${answerMs.toFixed(0)} ms`
  if (!isSupported) return problem(check, `${about}: too old`, 'Use etcd 3.4 or newer')
  if (alarms.length > 0)
    return problem(
      check,
      `${about}; alarm: ${alarms.join(', ')}: it rejects writes`,
      'Compact and defragment it, raise --quota-backend-bytes, then `etcdctl alarm disarm`',
    )
  if (dbBytes > largeBytes)
    return warning(
      check,
      `${about}; by default it rejects writes beyond 2 GB`,
      'Defragment it, or raise its --quota-backend-bytes',
    )
  if (answerMs > slowMs) return warning(check, about, "Check that machine's load and disk, and the network to it")
  return ok(check, about)
}

function clusterFindings(members: readonly EtcdMemberState[]): Finding[] {
  const known = members.filter((member): member is Known => member.kind === 'known')
  const needed = Math.floor(members.length / 2) + 1
  if (known.length < needed)
    return [
      problem(
        check,
        `${known.length} of ${members.length} members answer, ${needed} are needed: writes and consistent reads fail`,
        'Start the members that are down',
      ),
    ]
  if (new Set(known.map(({ clusterId }) => clusterId)).size > 1)
    return [problem(check, 'the members belong to different clusters', 'Name members of one cluster in --etcd-servers')]
  const leaders = new Set(known.map(({ leader }) => leader))
  if (leaders.has('0') || leaders.size > 1)
    return [
      problem(
        check,
        'the members do not agree on a leader',
        'Wait for the election; if it does not end, check the network between the members',
      ),
    ]
  if (members.length === 1) return [ok(check, 'one member: while it is down, writes fail')]
  if (members.length % 2 === 0)
    return [
      warning(
        check,
        `${members.length} members survive no more failures than ${members.length - 1}`,
        'Use an odd number of members',
      ),
    ]
  return [
    ok(
      check,
      `${known.length} of ${members.length} members answer and have one leader; ${known.length - needed} more may fail`,
    ),
  ]
}
