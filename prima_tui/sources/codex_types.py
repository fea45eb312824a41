"""The names that records of Codex rollouts are known by; what is not here is told as unknown."""

from __future__ import annotations

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
"""Items in which the model calls a tool."""

OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
)
"""Items that hold what a tool gave back."""

# told apart by white space, since one name a line would fill pages
_RECORDS = "world_state token_usage_record inter_agent_communication inter_agent_communication_metadata"
_ITEMS = """
    web_search_call tool_search_call tool_search_output image_generation_call ghost_snapshot compaction
    compaction_summary compaction_trigger context_compaction agent_message item_reference mcp_approval_request
    mcp_approval_response additional_tools other
"""
_EVENTS = """
    token_count agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break agent_message_delta
    agent_reasoning_delta agent_reasoning_raw_content_delta agent_message_content_delta reasoning_content_delta
    reasoning_raw_content_delta error warning guardian_warning stream_error entered_review_mode
    exec_command_begin exec_command_end exec_command_output_delta terminal_interaction exec_approval_request
    apply_patch_approval_request patch_apply_begin patch_apply_updated mcp_tool_call_begin mcp_tool_call_end
    mcp_startup_update mcp_startup_complete mcp_list_tools_response web_search_begin web_search_end
    image_generation_begin image_generation_end view_image_tool_call dynamic_tool_call_request
    dynamic_tool_call_response collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin
    collab_agent_interaction_end collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end
    collab_resume_begin collab_resume_end sub_agent_activity guardian_assessment undo_started undo_completed
    thread_settings_applied thread_rollback_failed turn_diff plan_update plan_delta item_started background_event
    deprecation_notice model_reroute model_verification hook_started hook_completed elicitation_request
    request_permissions request_user_input session_configured shutdown_complete skills_update_available
    list_skills_response list_custom_prompts_response remote_skill_downloaded get_history_entry_response
    conversation_path raw_response_item realtime_conversation_started realtime_conversation_realtime
    realtime_conversation_closed safety_buffering turn_moderation_metadata
"""
_COMPLETED = """
    Reasoning CommandExecution McpToolCall DynamicToolCall WebSearch Plan HookPrompt ContextCompaction
    SubAgentActivity CollabAgentToolCall CollabToolCall Extension ImageView ImageGeneration EnteredReviewMode
    ExitedReviewMode Sleep
"""

SILENT_RECORDS = frozenset(_RECORDS.split())
"""Records that say nothing for a conversation."""
SILENT_ITEMS = frozenset(_ITEMS.split())
"""Items (``response_item``) that say nothing for a conversation."""
SILENT_EVENTS = frozenset(_EVENTS.split())
"""Events (``event_msg``) that say nothing for a conversation, or say it again."""
SILENT_COMPLETED = frozenset(_COMPLETED.split())
"""Items of ``item_completed`` that say nothing for a conversation, or say it again."""
ITEMS = CALLS | OUTPUTS | SILENT_ITEMS | {"message", "reasoning"}
"""All items, for telling the bare ones of 2025 from other records."""
