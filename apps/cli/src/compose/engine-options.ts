/** Options of an engine, from the configuration. */
import { type Action, NebulaError, type ProcessSettings, parseDuration, parseSize } from '@nebula/core';
import type { EngineOptions } from '@nebula/engine';
import type { NebulaConfig } from '@nebula/sdk';
import { definedMembers } from '../command-options.ts';
import type { Project } from '../services.ts';

export async function allActions({ config }: Project): Promise<readonly Action[]> {
  const { builtinActions } = await import('@nebula/actions');
  return [...builtinActions, ...(config.actions ?? [])];
}

export async function engineOptions(project: Project): Promise<EngineOptions> {
  const { concurrency, maxActiveRuns } = project.config;
  const retentionMs = retentionOf(project.config);
  const inlineLimitBytes = sizeOf('inlineLimit', project.config.inlineLimit);
  return {
    ...settingsOf(project.config, await allActions(project)),
    ...definedMembers({ concurrency, maxActiveRuns, retentionMs, inlineLimitBytes }),
  };
}

/** Callback URLs exist only at a server. */
type CommandSettings = Omit<ProcessSettings, 'callbacks'>;

/** The settings of a command. A server hands jobs of workflow-graph to workers; a command runs them itself. */
export async function commandSettings(project: Project): Promise<CommandSettings> {
  const { workflowGraphJob } = await import('@nebula/actions');
  return settingsOf(project.config, [...(await allActions(project)), workflowGraphJob]);
}

function settingsOf(config: NebulaConfig, actions: readonly Action[]): CommandSettings {
  const { retryPolicies, capabilities, labels, expressionLimits } = config;
  return { actions, ...definedMembers({ retryPolicies, capabilities, labels, expressionLimits }) };
}

function retentionOf({ retention }: NebulaConfig): number | null | undefined {
  return typeof retention === 'string' ? measured('retention', parseDuration(retention)) : retention;
}

export function sizeOf(key: string, size: string | number | undefined): number | undefined {
  return typeof size === 'string' ? measured(key, parseSize(size)) : size;
}

function measured(key: string, value: number | { readonly message: string; readonly hint: string }): number {
  if (typeof value === 'number') return value;
  throw new NebulaError('CONFIG_INVALID', `${key} in the configuration: ${value.message}`, { hint: value.hint });
}
