# frozen_string_literal: true

# Knows how an entry of Rails.cache says that it is compressed.
module RailsEntry
  module_function

  # The format in which a store writes, as docs/envelopes.md names it.
  def format = ActiveSupport::Cache.respond_to?(:format_version) ? ActiveSupport::Cache.format_version.to_s : "6.1"

  def compressed?(format, bytes)
    case format
    when "6.1" then bytes.include?("@compressedT")
    when "7.0" then bytes.start_with?("\x01".b)
    else bytes.getbyte(2) & 0x80 != 0
    end
  end

  def steps(format, bytes) = compressed?(format, bytes) ? ["zlib"] : []
end
