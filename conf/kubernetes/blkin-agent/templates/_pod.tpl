{{- /* SPDX-License-Identifier: BSD-2-Clause */}}
{{- /* What the pods of the agent and of its relay have in common. */}}
{{- define "blkin.pod" -}}
# LTTng's consumer daemon, on the node, writes to the relay's ports on the node's loopback, and the agent reads there.
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
automountServiceAccountToken: false
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "blkin.folders" -}}
# The kubelet makes folders of a node for root.
- name: folders
  image: {{ .Values.image }}
  command: [install, -d, -o, {{ .Values.user | quote }}, -g, {{ .Values.user | quote }}, /run/blkin, /var/lib/blkin, /var/lib/blkin/relay]
  securityContext:
    runAsUser: 0
    runAsGroup: 0
    readOnlyRootFilesystem: true
    allowPrivilegeEscalation: false
    capabilities: {drop: [ALL], add: [CHOWN, DAC_OVERRIDE, FOWNER]}
  volumeMounts: {{ include "blkin.mounts" . | nindent 4 }}
{{- end }}

{{- define "blkin.unprivileged" -}}
{readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
{{- end }}

{{- /* The agent reads what the relay writes into its folder, too. */}}
{{- define "blkin.mounts" -}}
- {name: run, mountPath: /run/blkin}
- {name: state, mountPath: /var/lib/blkin}
{{- end }}

{{- define "blkin.volumes" -}}
- {name: run, hostPath: {path: /run/blkin, type: DirectoryOrCreate}}
- {name: state, hostPath: {path: /var/lib/blkin, type: DirectoryOrCreate}}
{{- end }}
