import type { Command } from 'commander'

/** An example of a command: its purpose, and the command line after the name of the program. */
type Example = readonly [purpose: string, line: string]

/** The examples of each command, by its path. Every command without subcommands has one. */
const examplesOf: Readonly<Record<string, readonly Example[]>> = {
  status: [
    ['Show all workloads of the namespace', 'status'],
    ['Follow the StatefulSets and CloneSets of all namespaces', 'status statefulsets,clonesets -A --watch'],
  ],
  why: [
    ['Explain why a Deployment is not available', 'why deployment/web'],
    ['Explain a single pod, for a program', 'why pod web-0 -o json'],
  ],
  wait: [
    [
      'Wait for the end of a Job; exit code 0 if it is complete, 10 if it failed',
      'wait job/import --for condition=Complete --or condition=Failed --timeout 10m',
    ],
    ['Wait until a StatefulSet is available', 'wait statefulset/db --for condition=Available'],
  ],
  'rollout status': [['Wait at most five minutes for the end of a rollout', 'rollout status sts/db --timeout 5m']],
  'rollout watch': [['Show live progress bars', 'rollout watch cloneset/shop']],
  'rollout history': [
    ['List the revisions of a DaemonSet', 'rollout history ds/agent'],
    ['Show the template of its revision 2', 'rollout history ds/agent --revision 2'],
  ],
  'rollout undo': [
    ['Return to the previous template', 'rollout undo deployment/web'],
    ['Validate the return to revision 3 without storing it', 'rollout undo deployment/web --to-revision 3 --dry-run'],
  ],
  'rollout restart': [['Replace all pods of a StatefulSet', 'rollout restart sts/db']],
  'rollout pause': [['Pause the rollout of a CloneSet', 'rollout pause cloneset/shop']],
  'rollout resume': [['Resume it', 'rollout resume cloneset/shop']],
  dashboard: [['Serve the dashboard for another context of the kubeconfig', 'dashboard --context staging']],
  up: [
    ['Start a cluster on this machine', 'up'],
    ['Start a throwaway cluster of 100 simulated nodes', 'up --runtime simulated --nodes 100 --store memory'],
    ['Keep the data in etcd', 'up --store etcd --etcd-servers https://10.0.0.1:2379,https://10.0.0.2:2379'],
  ],
  stop: [['Stop the control plane of this directory', 'stop']],
  reset: [['Remove another data directory without confirmation', 'reset --data-dir /srv/coxswain --yes']],
  apiserver: [['Start an API server without nodes, on a free port', 'apiserver --store memory --secure-port 0']],
  controllers: [
    ['Run all controllers', 'controllers --kubeconfig admin.conf'],
    ['Run two of them', 'controllers --controllers statefulset-controller,daemonset-controller'],
  ],
  scheduler: [['Run a second scheduler', 'scheduler --scheduler-name batch --leader-elect-resource-name batch']],
  node: [
    ['Run ten simulated nodes', 'node --nodes 10 --node-name sim'],
    [
      'Join a cluster; the server prints this command with token create --print-join-command',
      'node --join --server https://10.0.0.1:6443 --token abcdef.0123456789abcdef --runtime auto',
    ],
  ],
  monitor: [['Measure the objectives of a file', 'monitor --slo-file objectives.yaml --cluster prod']],
  'monitor rules': [
    ['Print rules for the Prometheus operator', 'monitor rules objectives.yaml --format operator'],
    ['Print a Grafana dashboard', 'monitor rules objectives.yaml --format grafana'],
  ],
  publish: [
    ['Publish conditions for all kinds', 'publish --kubeconfig admin.conf'],
    ['Publish them for StatefulSets and DaemonSets only', 'publish --kinds statefulsets,daemonsets'],
  ],
  'token create': [
    ['Print the command that joins a node', 'token create --print-join-command'],
    ['Print the command that joins another server', 'token create --print-join-command up --ttl 1h'],
  ],
  'top controllers': [['Refresh every two seconds', 'top controllers --watch']],
  slo: [
    ['Report all objectives', 'slo'],
    ['Draw the latencies of one over its last six hours', 'slo sandbox-ready --window 6h'],
  ],
  'fault add': [
    ['Delay the network of all pods named web-…', "fault add network --pod 'web-*' --delay 10s"],
    [
      'Let every second image pull fail for a minute',
      'fault add image --fail "registry is down" --chance 0.5 --for 1m',
    ],
  ],
  'fault list': [['List all faults', 'fault list']],
  'fault clear': [['Remove all faults', 'fault clear']],
  'generate types': [['Write the types of a custom resource', 'generate types -f crd.yaml > boat.ts']],
  'generate crd': [['Install CloneSets on another cluster', 'generate crd cloneset | kubectl apply -f -']],
  manifests: [
    ['Install the publisher', 'manifests | kubectl apply -f -'],
    ['Print the monitor with a ServiceMonitor', 'manifests namespace monitor --service-monitors'],
  ],
  backup: [['Back up the data directory of this folder', 'backup cluster.backup']],
  restore: [['Move a cluster into etcd', 'restore cluster.backup --store etcd --etcd-servers http://127.0.0.1:2379']],
  doctor: [['Check a server on another port', 'doctor --secure-port 7443']],
  completion: [['Complete commands in this shell', 'completion bash > coxswain.bash && source coxswain.bash']],
  version: [['Print the version of this program only', 'version --client']],
}

/** Adds its examples to the help of each command below `program`. */
export function addExamples(program: Command): void {
  const add = (command: Command, path: string): void => {
    for (const sub of command.commands) add(sub, `${path} ${sub.name()}`.trimStart())
    const examples = examplesOf[path]
    if (examples) command.addHelpText('after', `\n${formatExamples(examples, program.name())}`)
  }
  add(program, '')
}

const formatExamples = (examples: readonly Example[], program: string): string =>
  `Examples:\n${examples.map(([purpose, line]) => `  # ${purpose}\n  ${program} ${line}`).join('\n\n')}`
