import { type RuleOptions, ruleGroups } from './prometheus-rules.ts'
import type { Slo } from './slo-file.ts'

export interface OperatorOptions extends RuleOptions {
  namespace: string
  /** The labels of both objects, for a Prometheus that selects by them: `release=kube-prometheus-stack`. */
  labels: Readonly<Record<string, string>>
}

/** The name of all objects of a monitor in a cluster, as in examples/monitor.yaml. */
const name = 'coxswain-monitor'

/** The rules and the scrape configuration of a monitor, as objects of the Prometheus operator. */
export async function operatorObjects(slos: readonly Slo[], options: OperatorOptions): Promise<string> {
  const { stringify } = await import('yaml')
  return [prometheusRule(slos, options), serviceMonitor(options)]
    .map((object) => stringify(object, { lineWidth: 0 }))
    .join('---\n')
}

const metadataOf = ({ namespace, labels }: OperatorOptions) => ({
  name,
  namespace,
  labels: { 'app.kubernetes.io/name': name, ...labels },
})

const prometheusRule = (slos: readonly Slo[], options: OperatorOptions) => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: metadataOf(options),
  spec: { groups: ruleGroups(slos, options) },
})

/** Scrapes with the token of Prometheus, and trusts only the monitor's authority. */
function serviceMonitor(options: OperatorOptions) {
  const { cluster, namespace } = options
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: metadataOf(options),
    spec: {
      selector: { matchLabels: { 'app.kubernetes.io/name': name } },
      namespaceSelector: { matchNames: [namespace] },
      endpoints: [
        {
          port: 'https',
          scheme: 'https',
          // The labels namespace and pod are those of the series.
          honorLabels: true,
          bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
          tlsConfig: {
            ca: { configMap: { name: `${name}-ca`, key: 'ca.crt' } },
            serverName: `${name}.${namespace}.svc`,
          },
          ...(cluster === undefined ? {} : { relabelings: [{ targetLabel: 'cluster', replacement: cluster }] }),
        },
      ],
    },
  }
}
